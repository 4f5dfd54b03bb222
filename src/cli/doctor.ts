import { UsageError } from '../options/flag.ts';
import { parseOptions, type ServerOptions } from '../options/options.ts';
import { storageFlags } from '../options/storage.ts';
import { overridesOf } from '../server/databases.ts';
import { explainFault } from '../storage/postgres/connection/trouble.ts';
import type { Finding } from '../storage/postgres/examination/examination.ts';
import { setUpDatabase } from '../storage/postgres/setup.ts';
import { hidePasswords } from '../util/hidden-passwords.ts';
import { databaseConnection, databaseOf, otherDatabases } from './database.ts';
import { explainRefusal } from './explain-refusal.ts';

const tell = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * `doctor [postgres://…] [flags]`: says what a database lacks for a server, and what could be better, and changes nothing. It
 * looks at each database of --kvstore-servers-overrides as well, and at those to which resources were moved.
 * @throws Error when something is lacking
 */
export async function examineDatabases(args: readonly string[]): Promise<void> {
  const { storage } = parseOptions(toFlags(args));
  const main = databaseOf(storage);
  // One that cannot be asked is reported below.
  const others = await otherDatabases(storage, main).catch(() => overridesOf(storage, main));
  const databases = [main, ...others.map(({ urls }) => urls)];
  let missing = 0;
  for (const urls of databases) {
    if (databases.length > 1) tell(`${hidePasswords(urls.join(','))}:`);
    missing += report(await look(storage, urls));
  }
  if (missing > 0)
    throw new Error(`${missing} ${missing === 1 ? 'requirement is' : 'requirements are'} missing, as above`);
  tell('a server can be started on this');
}

/** URLs may be given as words too: they are the hosts of one database. @throws UsageError for other words */
function toFlags(args: readonly string[]): string[] {
  const firstFlag = args.findIndex((word) => word.startsWith('-'));
  const words = firstFlag < 0 ? args : args.slice(0, firstFlag);
  return [...words.map(toFlag), ...args.slice(words.length)];
}

function toFlag(word: string): string {
  const { shown } = storageFlags.databaseUrls;
  if (/^postgres(ql)?:\/\//.test(word)) return `${shown}=${word}`;
  throw new UsageError(`doctor: ${JSON.stringify(hidePasswords(word))} does not begin with postgres://`);
}

/** What keeps a connection from being made is missing too. */
function look(storage: ServerOptions['storage'], urls: readonly string[]): Promise<readonly Finding[]> {
  return setUpDatabase(
    databaseConnection(storage, urls),
    async (database): Promise<readonly Finding[]> => [
      { kind: 'fine', text: database.encryption },
      ...(await database.examine()),
    ],
  ).catch((error: unknown) => {
    const fault = explainFault(error);
    return [{ kind: 'lacks', text: explainRefusal(fault) }];
  });
}

/** Answers how many requirements are missing. */
function report(findings: readonly Finding[]): number {
  for (const { kind, text } of findings) tell(`${kind.padEnd(8)} ${hidePasswords(text)}`);
  return findings.filter(({ kind }) => kind === 'lacks').length;
}
