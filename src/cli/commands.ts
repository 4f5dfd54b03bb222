import type { CommandUsage } from '../options/help.ts';
import { parseOptions, type ServerOptions } from '../options/options.ts';
import { beginEpoch } from './begin-epoch.ts';
import { examineDatabases } from './doctor.ts';
import { exportCluster } from './export.ts';
import { importCluster } from './import.ts';
import { runMigrations } from './migrate.ts';
import { serve } from './serve.ts';
import { dropSigningKey, listSigningKeys, rotateSigningKey } from './signing-keys.ts';
import { printUnit } from './systemd-unit.ts';
import { usualFlags } from './usual-flags.ts';
import { verifyCluster } from './verify.ts';

/** What pg-apiserver does besides serving. */
export interface Command extends CommandUsage {
  readonly name: string;
  /** @throws Error for the exit code 1, UsageError for 2 */
  run(args: readonly string[]): Promise<void>;
}

/** In the order of --help. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'start',
    words: '',
    meaning: [
      'serve this machine alone, with Node and RBAC: what npm start does, and pg-apiserver without any argument',
    ],
    run: (args) => serve(parseOptions([...args, ...usualFlags(args)])),
  },
  {
    name: 'migrate',
    words: '',
    meaning: [
      'bring the database up to date and end',
      '--list: show the migrations; --dry-run: show what would be applied; --to=31: end with that one',
      '--roles[=apiserver]: make the roles apiserver_migrator, _server and _reader, or three names',
    ],
    run: runMigrations,
  },
  {
    name: 'doctor',
    words: '[postgres://…]',
    meaning: ['say what a database lacks for a server, and what could be better, and change nothing'],
    run: examineDatabases,
  },
  {
    name: 'export',
    words: '',
    meaning: [
      'write the objects of a cluster as YAML, for kubectl apply and import, and its Secrets with them',
      '--to=FILE.yaml or a folder; --namespace=shop; --as-of=2026-01-31T12:00:00Z, or a revision',
      '--history: the kept revisions too, beside it; --kubeconfig=: by default that of --data-dir',
    ],
    run: exportCluster,
  },
  {
    name: 'import',
    words: '',
    meaning: [
      'write the objects of another cluster into the database of this one, uids, times and status as they are',
      '--from=a kubeconfig, a file or folder of YAML, postgres://…?kine, or etcd://host:2379',
      '--from-cafile, --from-certfile, --from-keyfile: for etcd; --from-encryption-config: for it and kine',
      '--dry-run: report what would be taken, and what not, and write nothing',
      '--follow: then follow its changes until Ctrl-C; --until-synced: until it is quiet for 3s',
      '--replace: also objects that the target has under another uid; --prune: remove what only it has',
      'run it again to go on after it was cut off',
    ],
    run: importCluster,
  },
  {
    name: 'verify',
    words: '',
    meaning: ['compare the objects of --from=, as for import, with those here; ends with 1 where any differ'],
    run: verifyCluster,
  },
  {
    name: 'begin-epoch',
    words: '[reason]',
    meaning: [
      'after a restore that servers cannot detect: every client begins again with what the database has now',
    ],
    run: withWords(beginEpoch),
  },
  {
    name: 'rotate-signing-key',
    words: '[after]',
    meaning: ['sign service account tokens with a new key, in 5s or so long after; old tokens stay good'],
    run: withWords(rotateSigningKey),
  },
  {
    name: 'list-signing-keys',
    words: '',
    meaning: ['show the keys that sign service account tokens, and since when'],
    run: withWords(listSigningKeys),
  },
  {
    name: 'drop-signing-key',
    words: 'id',
    meaning: ['end the tokens that an old key signed'],
    run: withWords(dropSigningKey),
  },
  {
    name: 'systemd-unit',
    words: '',
    meaning: ['print a hardened unit for systemd that serves with these flags'],
    run: printUnit,
  },
];

/** Words before the first flag are the command's own. */
function withWords(run: (words: readonly string[], options: ServerOptions) => Promise<void>): Command['run'] {
  return (args) => {
    const firstFlag = args.findIndex((word) => word.startsWith('-'));
    const end = firstFlag < 0 ? args.length : firstFlag;
    return run(args.slice(0, end), parseOptions(args.slice(end)));
  };
}
