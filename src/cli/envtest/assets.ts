import { accessSync, chmodSync, constants, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { SECTIONS } from '../../options/all-flags.ts';
import { parseFlags } from '../../options/command-line.ts';
import { duration, explainFlag, text, UsageError } from '../../options/flag.ts';
import { formatHelp } from '../../options/help.ts';
import { makeFolder } from '../../util/make-folder.ts';
import { NEVER } from '../../util/pause.ts';
import { ensureTemplate } from '../warm-start.ts';
import { beginSpare } from './spares.ts';

export const assetFlags = {
  dir: text('dir', { default: '', meaning: 'the folder to make, for KUBEBUILDER_ASSETS' }),
  keepReady: duration('keep-ready', {
    default: '15m',
    meaning: 'how long a server waits for the next suite, which then starts within a second; 0s: none waits',
  }),
};

const tell = (line: string): void => void process.stdout.write(`${line}\n`);

/** Programs of the folder: how each is called, and where it was found. */
interface Program {
  readonly node: string;
  readonly main: string;
}

/** Makes the folder, and the cluster that each suite begins with a copy of. @throws UsageError, Error */
export async function makeAssets(args: readonly string[]): Promise<void> {
  const { dir: given, keepReady: keepMs } = parseFlags(args, Object.values(assetFlags)).valuesOf(assetFlags);
  const keepReady = `${keepMs / 1000}s`;
  if (given === '') throw new UsageError(`${assetFlags.dir.shown} needs a folder, such as bin/envtest`);
  const dir = resolve(given);
  explainFlag(assetFlags.dir.shown, () => makeFolder(dir));
  const program = { node: process.execPath, main: resolve(process.argv[1] ?? '') };
  writeFileSync(join(dir, 'etcd.help'), ETCD_HELP);
  writeFileSync(join(dir, 'kube-apiserver.help'), formatHelp(SECTIONS, []));
  writeProgram(join(dir, 'etcd'), shim(['etcd', `${assetFlags.keepReady.shown}=${keepReady}`], program));
  writeProgram(join(dir, 'kube-apiserver'), shim(['kube-apiserver'], program));
  const kubectl = findOnPath('kubectl', dir);
  const path = join(dir, 'kubectl');
  rmSync(path, { force: true });
  if (kubectl === undefined) writeProgram(path, NO_KUBECTL);
  else symlinkSync(kubectl, path);
  beginSpare(await ensureTemplate(tell, NEVER), keepReady);
  if (kubectl === undefined)
    tell('there is no kubectl on PATH, which few suites need: install it, and run this again');
  tell(`\n  export KUBEBUILDER_ASSETS=${quote(dir)}\n`);
}

/** Only lines with `--unsafe-no-fsync` and the like count: envtest asks for flags in this way. */
const ETCD_HELP = `etcd's part of pg-apiserver envtest: an embedded PostgreSQL, which the kube-apiserver beside it uses.
It ends with the process that started it. Other flags of etcd are about etcd, and change nothing here.

  --listen-client-urls http://localhost:2379
    where /health is answered once the database is ready; names the database to kube-apiserver --etcd-servers
  --data-dir default.etcd
    folder of the database: a new one begins with a copy of a cluster that is kept ready
  --unsafe-no-fsync
    always: a crash of the machine may destroy the database
`;

const NO_KUBECTL = `#!/bin/sh
echo 'kubectl was not on PATH when pg-apiserver envtest made this folder: install it, and make the folder again' >&2
exit 127
`;

/** Help is a file: envtest asks for it before each start, and Node.js takes a third of a second to write it. */
const shim = (words: readonly string[], { node, main }: Program): string => `#!/bin/sh
# Made by pg-apiserver envtest.
case "\${1-}" in --help | -h) exec cat "\${0%/*}/${words[0]}.help" ;; esac
exec ${quote(node)} ${quote(main)} envtest ${words.map(quote).join(' ')} "$@"
`;

/** Replaces links too. */
function writeProgram(path: string, script: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, script);
  chmodSync(path, 0o755);
}

const quote = (word: string): string =>
  /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

function findOnPath(name: string, except: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && resolve(folder) !== except)
    .map((folder) => resolve(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
