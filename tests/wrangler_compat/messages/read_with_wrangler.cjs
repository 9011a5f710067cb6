// Reads configurations with the real wrangler: a JSON list of {path, env} comes in on stdin, one verdict each goes out.
"use strict";
const [, , packageFolder] = process.argv;
process.env.CI = "1";
process.env.NO_COLOR = "1";
process.env.WRANGLER_LOG_SANITIZE = "true";
process.env.WRANGLER_SEND_METRICS = "false";
const { unstable_readConfig: readConfig } = require(packageFolder);

const said = [];
for (const method of ["log", "warn", "error", "info", "debug"]) {
    console[method] = (...parts) => said.push(parts.join(" "));
}

const verdicts = JSON.parse(require("node:fs").readFileSync(0, "utf8")).map(({ path, env }) => {
    said.length = 0;
    let error = null;
    try {
        readConfig({ config: path, env: env ?? undefined });
    } catch (thrown) {
        error = String(thrown.message);
    }
    return { warnings: said.join("\n"), error };
});
process.stdout.write(JSON.stringify(verdicts), () => process.exit(0));
