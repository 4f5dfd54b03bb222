import { ALL_FLAGS } from '../options/all-flags.ts';
import { UsageError } from '../options/flag.ts';
import { formatHelp } from '../options/help.ts';
import { parseOptions } from '../options/options.ts';
import { hidePasswords } from '../util/hidden-passwords.ts';
import { VERSION } from '../version.ts';
import { runMigrations } from './migrate.ts';
import { serve } from './serve.ts';

/** Arguments → command → exit code. 2: the command line is wrong. 1: it could not be done. */
export async function run(args: readonly string[]): Promise<number> {
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
  hideFromProcessList();
  try {
    const [command] = args;
    if (command === 'migrate') await runMigrations(parseOptions(args.slice(1)));
    else await serve(parseOptions(args));
    return 0;
  } catch (error) {
    process.stderr.write(
      `pg-apiserver: ${hidePasswords(error instanceof Error ? error.message : String(error))}\n`,
    );
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Setting the title overwrites the arguments that `ps` shows. They are left alone where there is nothing to hide. */
function hideFromProcessList(): void {
  const shown = process.argv.map(hidePasswords);
  if (shown.some((argument, at) => argument !== process.argv[at])) process.title = shown.join(' ');
}
