import { bootstrapTokenFlags } from '../options/bootstrap-tokens.ts';
import type { CommandUsage } from '../options/help.ts';
import type { ServerOptions } from '../options/options.ts';
import { FIXTURE_NAMES, printFixture } from './fixture.ts';
import { usualFlags } from './usual-flags.ts';

/** What pg-apiserver does besides serving. */
interface Command extends CommandUsage {
  readonly name: string;
  /** @throws Error for the exit code 1, UsageError for 2 */
  run(args: readonly string[]): Promise<void>;
}

/** In the order of --help. Each loads its own modules when it runs: those of a server take half a second. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'start',
    words: '',
    meaning: [
      'serve this machine alone, with Node and RBAC: what npm start does, and pg-apiserver without any argument',
    ],
    run: (args) => serveWith([...args, ...usualFlags(args)]),
  },
  {
    name: 'migrate',
    words: '',
    meaning: [
      'bring the database up to date and end',
      '--list: show the migrations; --dry-run: show what would be applied; --to=84: end with that one',
      '--roles[=apiserver]: make the roles apiserver_migrator, _server and _reader, or three names',
    ],
    run: async (args) => (await import('./migrate.ts')).runMigrations(args),
  },
  {
    name: 'doctor',
    words: '[postgres://…]',
    meaning: ['say what a database lacks for a server, and what could be better, and change nothing'],
    run: async (args) => (await import('./doctor.ts')).examineDatabases(args),
  },
  {
    name: 'health',
    words: '[readyz|livez]',
    meaning: ['ask the server of this machine whether it is ready, or alive: 0 when it is, 1 when not'],
    run: withWords(async (...given) => (await import('./health.ts')).reportHealth(...given)),
  },
  {
    name: 'export',
    words: '',
    meaning: [
      'write the objects of a cluster as YAML, for kubectl apply and import, and its Secrets with them',
      '--to=FILE.yaml or a folder; --namespace=shop; --as-of=2026-01-31T12:00:00Z, or a revision',
      '--history: the kept revisions too, beside it; --kubeconfig=: by default that of the data directory',
    ],
    run: async (args) => (await import('./export.ts')).exportCluster(args),
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
    run: async (args) => (await import('./import.ts')).importCluster(args),
  },
  {
    name: 'verify',
    words: '',
    meaning: ['compare the objects of --from=, as for import, with those here; ends with 1 where any differ'],
    run: async (args) => (await import('./verify.ts')).verifyCluster(args),
  },
  {
    name: 'move',
    words: '/events',
    meaning: [
      'give a resource a database of its own while servers serve, its history included',
      '--to=postgres://…: an empty database; run it again to go on after it was cut off; --cancel: give it up',
    ],
    run: async (args) => (await import('./move.ts')).moveToDatabase(args),
  },
  {
    name: 'begin-epoch',
    words: '[reason]',
    meaning: [
      'after a restore that servers cannot detect: every client begins again with what the database has now',
    ],
    run: withWords(async (...given) => (await import('./begin-epoch.ts')).beginEpoch(...given)),
  },
  {
    name: 'rotate-signing-key',
    words: '[after]',
    meaning: ['sign service account tokens with a new key, in 5s or so long after; old tokens stay good'],
    run: withWords(async (...given) => (await import('./signing-keys.ts')).rotateSigningKey(...given)),
  },
  {
    name: 'list-signing-keys',
    words: '',
    meaning: ['show the keys that sign service account tokens, and since when'],
    run: withWords(async (...given) => (await import('./signing-keys.ts')).listSigningKeys(...given)),
  },
  {
    name: 'drop-signing-key',
    words: 'id',
    meaning: ['end the tokens that an old key signed'],
    run: withWords(async (...given) => (await import('./signing-keys.ts')).dropSigningKey(...given)),
  },
  {
    name: 'kubeadm-config',
    words: '',
    meaning: [
      'print what kubeadm join reads, and a bootstrap token; with --apply write it, and print the line for nodes',
      `the server needs ${bootstrapTokenFlags.bootstrapTokens.shown}; the flags of kubeadm-config stand below`,
    ],
    run: async (args) => (await import('./kubeadm/kubeadm-config.ts')).configureKubeadm(args),
  },
  {
    name: 'systemd-unit',
    words: '',
    meaning: ['print a hardened unit for systemd that serves with these flags'],
    run: async (args) => (await import('./systemd-unit.ts')).printUnit(args),
  },
  {
    name: 'envtest',
    words: '--dir=DIR',
    meaning: [
      'make DIR for KUBEBUILDER_ASSETS: etcd, kube-apiserver and kubectl, which the envtest of controller-runtime',
      'and other programs use unchanged; namespaces end there, and the dependents of owners are deleted',
      '--keep-ready=15m: how long a server waits for the next suite, which then starts at once; 0s: none waits',
    ],
    run: runEnvtest,
  },
  {
    name: 'fixture',
    words: FIXTURE_NAMES,
    meaning: ['print a fixture for that test runner, or the step of a workflow: a cluster for your tests'],
    run: printFixture,
  },
  {
    name: 'chart',
    words: '[folder]',
    meaning: ['write the Helm chart into a folder: servers on a PostgreSQL of yours, in a cluster of yours'],
    isFlagless: true,
    run: async (args) => (await import('./chart.ts')).writeChart(args),
  },
  {
    name: 'alerts',
    words: '[job]',
    meaning: ['print rules for Prometheus: what to alert on, for the scrape job of the servers'],
    isFlagless: true,
    run: async (args) => (await import('./chart.ts')).printAlerts(args),
  },
  {
    name: 'dashboard',
    words: '',
    meaning: ['print a dashboard for Grafana'],
    isFlagless: true,
    run: async (args) => (await import('./dashboard.ts')).printDashboard(args),
  },
];

/** Serves with these flags. */
export async function serveWith(args: readonly string[]): Promise<void> {
  const { parseOptions } = await import('../options/options.ts');
  const options = parseOptions(args);
  await (await import('./serve.ts')).serve(options);
}

/** The programs in the folder call it with their names. */
async function runEnvtest(args: readonly string[]): Promise<void> {
  const [program, ...others] = args;
  if (program === 'etcd') return (await import('./envtest/etcd.ts')).runEtcd(others);
  if (program === 'kube-apiserver')
    return (await import('./envtest/kube-apiserver.ts')).runKubeApiserver(others);
  if (program === 'spare') return (await import('./envtest/spare.ts')).runSpare(others);
  return (await import('./envtest/assets.ts')).makeAssets(args);
}

/** Words before the first flag are the command's own. */
function withWords(run: (words: readonly string[], options: ServerOptions) => Promise<void>): Command['run'] {
  return async (args) => {
    const { parseOptions } = await import('../options/options.ts');
    const firstFlag = args.findIndex((word) => word.startsWith('-'));
    const end = firstFlag < 0 ? args.length : firstFlag;
    return run(args.slice(0, end), parseOptions(args.slice(end)));
  };
}
