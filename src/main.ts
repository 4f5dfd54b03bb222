#!/usr/bin/env node
// Uses only syntax and one import that any Node.js accepts, because an old one would otherwise end with a SyntaxError.

/** As `engines` in package.json has it. */
const OLDEST = '22.15';

/** `22.15.0` → 22015 */
const toNumber = (version: string) => Number(version.split('.')[0]) * 1000 + Number(version.split('.')[1]);

if (toNumber(process.versions.node) < toNumber(OLDEST)) {
  process.stderr.write(
    `pg-apiserver: this is Node.js ${process.versions.node}, and ${OLDEST} or newer is needed: install that from https://nodejs.org, ` +
      'or run npm start in a checkout, which brings its own\n',
  );
  process.exitCode = 1;
} else {
  import('./cli/entry.ts');
}
