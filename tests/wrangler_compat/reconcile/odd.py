"""Configurations that are written oddly: what editors of JSONC trip over. All are of the project in `CODE`."""

from __future__ import annotations

from tests.wrangler_compat.reconcile.case import workflow

CODE = workflow("Pipe", 'limits = {"steps": 7}', 'schedules = ["0 3 * * *"]') + workflow("New")

_PIPE = '{ "name": "pipe", "binding": "PIPE", "class_name": "Pipe" }'
_DEEP = "[" * 150 + "]" * 150

ODD = {
    "minified": '{"main":"entry.py","workflows":[{"name":"pipe","binding":"P","class_name":"Pipe"}]}',
    "minified with a byte order mark": '\ufeff{"main":"entry.py"}',
    "one line with a comment that ends it": '{ "main": "entry.py" // the only one\n}',
    "no final line end": '{\n\t"main": "entry.py"\n}',
    "line ends of three kinds": '{\r\n  "main": "entry.py",\n  "vars": {},\r  "workflows": [\r\n    '
    + _PIPE
    + "\n  ]\r\n}\r\n",
    "carriage returns only": '{\r  "main": "entry.py",\r  // c\r  "workflows": [' + _PIPE + "]\r}\r",
    "commas first": '{ "main": "entry.py"\n, "workflows":\n  [ ' + _PIPE + '\n  ]\n, "vars": {}\n}\n',
    "a list of one on one line": '{\n  "main": "entry.py",\n  "workflows": [' + _PIPE + "]\n}\n",
    "a list of one with a trailing comma": '{\n  "main": "entry.py",\n  "workflows": [' + _PIPE + ",],\n}\n",
    "comments at every joint": (
        '/*1*/{/*2*/"main"/*3*/:/*4*/"entry.py"/*5*/,/*6*/"workflows"/*7*/:/*8*/[/*9*/{/*10*/"name"/*11*/:/*12*/"pipe"'
        '/*13*/,/*14*/"binding"/*15*/:/*16*/"P"/*17*/,/*18*/"class_name"/*19*/:/*20*/"Pipe"/*21*/,/*22*/}/*23*/]/*24*/'
        ",/*25*/}/*26*/"
    ),
    "line comments at every joint": (
        '//1\n{//2\n"main"//3\n://4\n"entry.py"//5\n,//6\n"workflows"//7\n://8\n[//9\n{//10\n"name"//11\n://12\n"pipe"'
        '//13\n,//14\n"binding"//15\n://16\n"P"//17\n,//18\n"class_name"//19\n://20\n"Pipe"//21\n}//22\n]//23\n}//24'
    ),
    "comments that look like code": (
        '{\n  "main": "entry.py", // "exports": {\n  /* } */ "vars": { "A": "// no /* comment", "B": "}" },\n'
        '  "workflows": [ /* [ */ ' + _PIPE + " // ]\n  ]\n}\n"
    ),
    "escaped keys": (
        '{"m\\u0061in":"entry.py","w\\u006frkflows":[{"n\\u0061me":"pipe","binding":"P","cl\\u0061ss_name":"Pipe"}]}'
    ),
    "text of all kinds": (
        '{\n  "main": "entry.py",\n  "vars": { "ü": "\U0001f600", "\u2028": "\\ud83d\\ude00", "": "\\u0000" }\n}\n'
    ),
    "nested deeply": '{ "main": "entry.py", "vars": { "deep": ' + _DEEP + " } }",
    "numbers of all kinds": (
        '{ "main": "entry.py", "vars": { "n": [-0, 1.0, 1e3, 1E-7, 9007199254740993, 123456789012345678901] } }'
    ),
    "exports that are nothing": '{ "main": "entry.py", "exports": null }',
    "exports with a comment only": '{\n  "main": "entry.py",\n  "exports": {\n    // none yet\n  },\n}\n',
    "exports on one line with others": (
        '{ "main": "entry.py", "exports": { "Z": { "type": "worker" }, /* mine */ '
        '"Pipe": { "name": "pipe", "type": "workflow" } } }'
    ),
    "an empty list": '{ "main": "entry.py", "workflows": [ ] }',
    "everything indented by accident": '    {\n        "main": "entry.py"\n    }\n',
    "blank lines everywhere": '\n\n{\n\n  "main": "entry.py"\n\n  ,\n\n  "workflows": [\n\n    '
    + _PIPE
    + "\n\n  ]\n\n}\n\n",
    "a brace on the line of the last value": '{ "main": "entry.py",\n  "workflows": [\n    ' + _PIPE + " ] }",
    "trailing blanks": '{  \n  "main": "entry.py",  \n  "workflows": [  \n    ' + _PIPE + "  \n  ]  \n}  \n",
    "settings with comments inside": (
        '{ "main": "entry.py", "exports": { "Pipe": { "type": "workflow", "name": "pipe",\n  "schedules": [ // UTC\n'
        '    "0 1 * * *", // early\n    "0 2 * * *" /* late */\n  ], "limits": /* few */ 5 // odd\n } } }'
    ).replace('"limits": /* few */ 5', '"limits": /* few */ { "steps": 5 }'),
}
