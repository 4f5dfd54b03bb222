import { parseArgs } from 'node:util';

export interface Settings {
  /** Names of scenarios, or what they begin with. Empty: all. */
  readonly only: readonly string[];
  /** A server that runs already. Undefined: one of our own. */
  readonly kubeconfig: string | undefined;
  /** Its processes on this machine, so that their CPU and memory can be told. */
  readonly serverPids: readonly number[];
  readonly databasePids: readonly number[];
  readonly jsonFile: string | undefined;
  /** A tenth of the time and of the objects: to see that everything works, not how fast. */
  readonly quick: boolean;
  /** For profiles of our own server: `--cpu-prof --cpu-prof-dir=/tmp/profiles`. */
  readonly nodeFlags: readonly string[];
  readonly serverFlags: readonly string[];
  readonly list: boolean;
  readonly help: boolean;
}

export const USAGE = `npm run bench -- [flags]
  --only=get,list/10000-pods   scenarios whose names begin so
  --list                       their names
  --quick                      a tenth of the time and of the objects
  --json=file                  the results as JSON
  --kubeconfig=file            measure a server that runs already
  --server-pid=1,2             its processes, to tell their CPU and memory
  --database-pid=3             those of its database
  --node-flags=--cpu-prof,--cpu-prof-dir=/tmp   for Node.js, when the server is our own
  --server-flags=--v=2         for the server, when it is our own
`;

/** @throws TypeError for unknown flags */
export function parseArguments(args: readonly string[]): Settings {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: text,
      kubeconfig: text,
      'server-pid': text,
      'database-pid': text,
      json: text,
      'node-flags': text,
      'server-flags': text,
      quick: flag,
      list: flag,
      help: flag,
    },
  });
  return {
    only: split(values.only),
    kubeconfig: values.kubeconfig,
    serverPids: split(values['server-pid']).map(Number),
    databasePids: split(values['database-pid']).map(Number),
    jsonFile: values.json,
    quick: values.quick,
    nodeFlags: split(values['node-flags']),
    serverFlags: split(values['server-flags']),
    list: values.list,
    help: values.help,
  };
}

const split = (text: string | undefined): string[] =>
  text === undefined || text === '' ? [] : text.split(',');
