import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { closest } from './closest.ts';
import type { Kubectl } from './kubectl.ts';
import { CommandError, UsageError } from './usage-error.ts';

/** A resource from discovery. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  /** The plural: `deployments`. */
  readonly resource: string;
  readonly shortNames: readonly string[];
  readonly kind: string;
  readonly isNamespaced: boolean;
}

/** Finds resources by the users' words. */
export interface Resources {
  /** @throws UsageError for an unknown word */
  find(word: string): Promise<Resource>;
  has(word: string): Promise<boolean>;
  all(): Promise<readonly Resource[]>;
}

/** Discovery is repeated after this time, or for an unknown word. */
const KEPT_MS = 10 * 60_000;

interface ResourcesOptions {
  readonly kubectl: Kubectl;
  readonly server: string;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => Date;
}

export function createResources({ kubectl, server, env, now }: ResourcesOptions): Resources {
  const file = cacheFile(server, env);
  let known = readKept(file, now());
  const ask = async (): Promise<readonly Resource[]> => {
    known = await discover(kubectl);
    keep(file, known);
    return known;
  };
  const look = async (word: string): Promise<Resource | undefined> => {
    const isFresh = known === undefined;
    const found = findIn(known ?? (await ask()), word);
    return found === undefined && !isFresh ? findIn(await ask(), word) : found;
  };
  return {
    all: async () => known ?? (await ask()),
    has: async (word) => (await look(word)) !== undefined,
    find: async (word) => {
      const found = await look(word);
      if (found === undefined) throw noSuchResource(word, known ?? []);
      return found;
    },
  };
}

function noSuchResource(word: string, list: readonly Resource[]): UsageError {
  const near = closest(
    word.toLowerCase(),
    list.flatMap((one) => [one.resource, one.kind.toLowerCase(), ...one.shortNames]),
  );
  const hint = near === undefined ? 'kubectl api-resources lists them' : `did you mean ${near}?`;
  return new UsageError(`the server has no resource type ${JSON.stringify(word)}; ${hint}`);
}

/** `deploy`, `deployment`, `Deployment`, `deployments.apps`, `deployments.v1.apps`. */
function findIn(list: readonly Resource[], word: string): Resource | undefined {
  const typed = word.toLowerCase();
  const exactly = (name: string, group: string | undefined): Resource | undefined => {
    const inGroup = group === undefined ? list : list.filter((one) => one.group === group);
    return (
      inGroup.find((one) => one.resource === name) ??
      inGroup.find((one) => one.shortNames.includes(name)) ??
      inGroup.find((one) => one.kind.toLowerCase() === name)
    );
  };
  const [name = '', ...rest] = typed.split('.');
  return (
    exactly(typed, undefined) ??
    (rest.length > 0 ? exactly(name, rest.join('.')) : undefined) ??
    (rest.length > 0 ? exactly(name, rest.slice(1).join('.')) : undefined)
  );
}

/** @throws CommandError */
async function discover(kubectl: Kubectl): Promise<readonly Resource[]> {
  // `kubectl get --raw` would need one call per group; this is a single call.
  const { stdout, stderr } = await kubectl.run(['api-resources', '--output=wide']);
  const found = parseApiResources(stdout);
  // The command fails when the server of one group fails, but lists the others.
  if (found.length === 0) throw new CommandError(stderr.trim() || 'kubectl api-resources named no resources');
  return found;
}

/** Parses `kubectl api-resources -o wide`. Kubernetes' resources come first: custom ones of the same name do not hide them. */
function parseApiResources(table: string): readonly Resource[] {
  const [header = '', ...rows] = table.split('\n');
  const columns = ['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND', 'VERBS'].map((name) =>
    header.indexOf(name),
  );
  if (columns.some((at) => at < 0)) return [];
  const list = rows
    .filter((row) => row !== '')
    .map((row): Resource => {
      const [resource = '', shortNames = '', apiVersion = '', namespaced, kind = ''] = columns.map(
        (at, index) => row.slice(at, columns[index + 1]).trim(),
      );
      const slash = apiVersion.indexOf('/');
      return {
        group: slash < 0 ? '' : apiVersion.slice(0, slash),
        version: apiVersion.slice(slash + 1),
        resource,
        shortNames: shortNames === '' ? [] : shortNames.split(','),
        kind,
        isNamespaced: namespaced === 'true',
      };
    });
  return list.sort((a, b) => rank(a) - rank(b));
}

const rank = ({ group }: Resource): number =>
  group === '' ? 0 : !group.includes('.') || /\.(k8s|cluster)\.io$/.test(group) ? 1 : 2;

function cacheFile(server: string, env: NodeJS.ProcessEnv): string {
  const folder = env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache');
  const key = createHash('sha256').update(server).digest('hex').slice(0, 32);
  return join(folder, 'kubectl-history', `${key}.json`);
}

function readKept(file: string, now: Date): readonly Resource[] | undefined {
  try {
    if (now.getTime() - statSync(file).mtimeMs > KEPT_MS) return undefined;
    const list: readonly Resource[] = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(list) && list.length > 0 ? list : undefined;
  } catch {
    return undefined;
  }
}

function keep(file: string, list: readonly Resource[]): void {
  const partial = `${file}.${process.pid}`;
  try {
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o750 });
    writeFileSync(partial, JSON.stringify(list), { mode: 0o600 });
    renameSync(partial, file);
  } catch {
    // Without a cache folder, discovery runs each time.
  }
}
