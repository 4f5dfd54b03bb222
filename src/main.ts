#!/usr/bin/env node
import { runMigrations } from './cli/migrate.ts';
import { serve } from './cli/serve.ts';
import { ALL_FLAGS } from './options/all-flags.ts';
import { UsageError } from './options/flag.ts';
import { formatHelp } from './options/help.ts';
import { parseOptions } from './options/options.ts';
import { VERSION } from './version.ts';

/** Arguments → command → exit code. 2: the command line is wrong. 1: it could not be done. */
async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(formatHelp(ALL_FLAGS));
    return 0;
  }
  const version = args.find((argument) => /^--version(=(true|raw))?$/.test(argument));
  if (version !== undefined) {
    process.stdout.write(
      version === '--version=raw' ? `${JSON.stringify(VERSION)}\n` : `pg-apiserver ${VERSION.gitVersion}\n`,
    );
    return 0;
  }
  try {
    const [command] = args;
    if (command === 'migrate') await runMigrations(parseOptions(args.slice(1)));
    else await serve(parseOptions(args));
    return 0;
  } catch (error) {
    process.stderr.write(`pg-apiserver: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

// A stray rejection is a mistake of ours, not a reason to drop everybody's requests.
process.on('unhandledRejection', (error) => process.stderr.write(`unhandled rejection: ${String(error)}\n`));

process.exitCode = await main(process.argv.slice(2));
// Whatever still holds the event loop (a half-closed connection to a database that is gone) must not hold the process.
setTimeout(() => process.exit(), 500).unref();
