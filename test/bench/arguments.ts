import { parseArgs } from 'node:util';

import type { ScaleSize } from './scale/shape.ts';

export interface Settings {
  /** A million objects and their history, instead of all the rest. */
  readonly scale: ScaleSettings | undefined;
  /** A control plane under the load of many nodes, instead of all the rest. */
  readonly kubemark: KubemarkSettings | undefined;
  /** Custom resources, instead of all the rest. */
  readonly custom: boolean;
  /** How many the scenarios of upkeep make. Undefined: as many as each says itself. */
  readonly objects: number | undefined;
  /** Names of scenarios, or what they begin with. Empty: all. */
  readonly only: readonly string[];
  /** A server that runs already. Undefined: one of our own. */
  readonly kubeconfig: string | undefined;
  /** Its processes on this machine, for their CPU and memory. */
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

export interface ScaleSettings extends ScaleSize {
  /** Where the data is kept for other runs. Undefined: it goes. */
  readonly dataDir: string | undefined;
}

export interface KubemarkSettings {
  /** A run for each. */
  readonly nodes: readonly number[];
  readonly seconds: number;
}

export const USAGE = `npm run bench -- [scale | custom | kubemark] [flags]
  --only=get,list/10000-pods   scenarios whose names begin so
  --list                       their names
  --quick                      a tenth of the time and of the objects
  --json=file                  the results as JSON
  --kubeconfig=file            measure a server that runs already
  --server-pid=1,2             its processes, to tell their CPU and memory
  --database-pid=3             those of its database
  --node-flags=--cpu-prof,--cpu-prof-dir=/tmp   for Node.js, when the server is our own
  --server-flags=--v=2         for the server, when it is our own
  --objects=200000             of the scenarios of upkeep, in place of a million

scale: with a history of ten days, which is made first. It takes 1.1 kB of disk a revision.
  --revisions=100000000        of that history
  --objects=1000000            that are left in the end
  --small-objects              of 0.2 kB, with short ids: half the disk
  --data-dir=folder            where it is kept for other runs; without, it goes. Each run compacts a day of it

kubemark: nodes with 30 pods each and deployments that roll, judged by Kubernetes' objectives
  --nodes=100,1000,5000        how many; a run for each
  --seconds=120                of each run

custom: custom resources beside built-in ones, and a thousand definitions
`;

/** @throws TypeError for unknown flags and wrong values */
export function parseArguments(args: readonly string[]): Settings {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      only: text,
      kubeconfig: text,
      'server-pid': text,
      'database-pid': text,
      json: text,
      'node-flags': text,
      'server-flags': text,
      revisions: text,
      objects: text,
      'data-dir': text,
      nodes: text,
      seconds: text,
      'small-objects': flag,
      quick: flag,
      list: flag,
      help: flag,
    },
  });
  return {
    scale: parseScale(positionals, values),
    kubemark: parseKubemark(positionals, values),
    custom: positionals.includes('custom'),
    objects: values.objects === undefined ? undefined : toCount('--objects', values.objects),
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

const COMMANDS = ['scale', 'custom', 'kubemark'];

interface KubemarkFlags {
  readonly nodes?: string | undefined;
  readonly seconds?: string | undefined;
}

function parseKubemark(positionals: readonly string[], flags: KubemarkFlags): KubemarkSettings | undefined {
  if (positionals.includes('kubemark')) {
    const { nodes = '100,1000,5000', seconds = '120' } = flags;
    return {
      nodes: split(nodes).map((one) => toCount('--nodes', one)),
      seconds: toCount('--seconds', seconds),
    };
  }
  const [given] = (['nodes', 'seconds'] as const).filter((name) => flags[name] !== undefined);
  if (given !== undefined) throw new TypeError(`--${given} is for \`npm run bench -- kubemark\``);
  return undefined;
}

interface ScaleFlags {
  readonly revisions?: string | undefined;
  readonly objects?: string | undefined;
  readonly 'data-dir'?: string | undefined;
  readonly 'small-objects': boolean;
}

function parseScale(positionals: readonly string[], flags: ScaleFlags): ScaleSettings | undefined {
  const unknown = positionals.find((one) => !COMMANDS.includes(one));
  if (unknown !== undefined || positionals.length > 1)
    throw new TypeError(
      `${positionals.join(' ')}: there is \`scale\`, \`custom\` or \`kubemark\`; scenarios are chosen by --only`,
    );
  const {
    revisions = '100000000',
    objects = '1000000',
    'data-dir': dataDir,
    'small-objects': isSmall,
  } = flags;
  if (positionals.includes('scale')) {
    return {
      revisions: toCount('--revisions', revisions),
      objects: toCount('--objects', objects),
      isSmall,
      dataDir,
    };
  }
  const [given] = (['revisions', 'data-dir', 'small-objects'] as const).filter((name) => flags[name]);
  if (given !== undefined) throw new TypeError(`--${given} is for \`npm run bench -- scale\``);
  return undefined;
}

function toCount(flag: string, text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new TypeError(`${flag}=${text}: a whole number is wanted, as in ${flag}=1000000`);
}

const split = (text: string | undefined): string[] =>
  text === undefined || text === '' ? [] : text.split(',');
