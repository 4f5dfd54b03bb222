import { LEASES } from '../api/known-resources.ts';
import type { ResourceOf } from '../api/names.ts';
import type { Lease } from '../api/types/coordination/v1.ts';
import type * as alpha from '../api/types/coordination/v1alpha1.ts';
import type * as beta from '../api/types/coordination/v1beta1.ts';
import { isOlder, parseSemanticVersion, type SemanticVersion } from '../object/semantic-version.ts';
import { toMicroTime } from '../object/timestamps.ts';
import { getOrAdd } from '../util/get-or-add.ts';
import { repeat } from '../util/pause.ts';
import { AS_SERVER, type Client } from '../verbs/client/client.ts';

/**
 * Elects the holder of a lease from its candidates (the feature CoordinatedLeaderElection): the one with the oldest version, so
 * that during an upgrade all parts of the cluster understand their leader (Kubernetes:
 * pkg/controlplane/controller/leaderelection).
 */

/** A candidate as 1.31 or a later version stores it: the former names several strategies, the latter one. */
type LeaseCandidate = alpha.LeaseCandidate | beta.LeaseCandidate;

export const CANDIDATES: ResourceOf<LeaseCandidate> = {
  group: 'coordination.k8s.io',
  resource: 'leasecandidates',
};

const OLDEST = 'OldestEmulationVersion';
const MANAGER = 'leader-election-controller';

/** Kubernetes' figures. A candidate answers a ping within this time, or does not vote; */
const ANSWER_MS = 5000;
/** an elected holder takes over within this time, or another is elected; */
const TERM_SECONDS = 5;
/** and a candidate that was silent for this time is forgotten. It is pinged after half of it. */
const SILENCE_MS = 30 * 60_000;
/** The interval of checks, in memory. */
const ROUND_MS = 1000;
const RETRY_MS = 5000;

const msOf = (time: string | null | undefined): number => Date.parse(time ?? '');
/** Whether `time` was less than `ms` ago. An absent time was long ago. */
const isWithin = (time: string | null | undefined, ms: number, nowMs: number): boolean =>
  msOf(time) + ms > nowMs;

const nameOf = ({ metadata }: LeaseCandidate): string => metadata.name ?? '';

/** What is written into a lease. Without a holder: another controller, which knows the strategy, chooses it. */
interface Choice {
  readonly holder?: string;
  readonly strategy: string;
}

/** The next step for a lease. */
type ElectionStep =
  | { readonly kind: 'wait' }
  /** Ask these candidates whether they still run. */
  | { readonly kind: 'ping'; readonly candidates: readonly LeaseCandidate[] }
  | ({ readonly kind: 'elect' } & Choice);

const WAIT: ElectionStep = { kind: 'wait' };

/** Decides the next step. `candidates`: those of this lease. */
export function nextStep(
  lease: Lease | undefined,
  candidates: readonly LeaseCandidate[],
  nowMs: number,
): ElectionStep {
  const alive = candidates.filter(({ spec = {} }) => isWithin(spec.renewTime, SILENCE_MS, nowMs));
  if (alive.length === 0 || !needsElection(lease, alive, nowMs)) return WAIT;
  const silent = alive.filter(({ spec = {} }) => !isWithin(spec.renewTime, ANSWER_MS, nowMs));
  const asked = silent.filter(({ spec = {} }) => isAsked(spec));
  const unasked = silent.filter(({ spec = {} }) => !isAsked(spec));
  if (unasked.length > 0) return { kind: 'ping', candidates: unasked };
  if (asked.some(({ spec = {} }) => isWithin(spec.pingTime, ANSWER_MS, nowMs))) return WAIT;
  const voters = alive.filter((candidate) => !silent.includes(candidate));
  return choiceOf(voters, lease);
}

function choiceOf(voters: readonly LeaseCandidate[], lease: Lease | undefined): ElectionStep {
  const strategy = strategyOf(voters);
  if (strategy === undefined) return WAIT;
  if (strategy !== OLDEST) return lease?.spec?.strategy === strategy ? WAIT : { kind: 'elect', strategy };
  const elected = bestOf(voters);
  return elected === undefined ? WAIT : { kind: 'elect', holder: nameOf(elected), strategy };
}

/** Whether a ping is unanswered. */
const isAsked = ({ pingTime, renewTime }: NonNullable<LeaseCandidate['spec']>): boolean =>
  pingTime !== undefined && !(msOf(pingTime) < msOf(renewTime));

const isExpired = ({ spec = {} }: Lease, nowMs: number): boolean =>
  spec.leaseDurationSeconds === undefined ||
  !isWithin(spec.renewTime, spec.leaseDurationSeconds * 1000, nowMs);

function needsElection(
  lease: Lease | undefined,
  candidates: readonly LeaseCandidate[],
  nowMs: number,
): boolean {
  const holder = lease?.spec?.holderIdentity ?? '';
  if (lease === undefined || holder === '' || isExpired(lease, nowMs)) return true;
  if (candidates.some(({ spec = {} }) => !isWithin(spec.renewTime, SILENCE_MS / 2, nowMs))) return true;
  const best = bestOf(candidates);
  const preferred = lease.spec?.preferredHolder ?? '';
  return best !== undefined && nameOf(best) !== holder && nameOf(best) !== preferred;
}

/** Returns the best candidate; undefined when the candidates want an unknown strategy or agree on none. */
export function bestOf(candidates: readonly LeaseCandidate[]): LeaseCandidate | undefined {
  if (strategyOf(candidates) !== OLDEST) return undefined;
  let best: LeaseCandidate | undefined;
  for (const candidate of candidates)
    if (versionsOf(candidate) !== undefined && (best === undefined || isBetter(candidate, best)))
      best = candidate;
  return best;
}

function versionsOf({ spec = {} }: LeaseCandidate): readonly SemanticVersion[] | undefined {
  const emulation = parseSemanticVersion(spec.emulationVersion ?? '');
  const binary = parseSemanticVersion(spec.binaryVersion ?? '');
  return emulation === undefined || binary === undefined ? undefined : [emulation, binary];
}

/** The older version is better; of equal ones the earlier candidate. */
function isBetter(candidate: LeaseCandidate, other: LeaseCandidate): boolean {
  const others = versionsOf(other) ?? [];
  for (const [at, version] of (versionsOf(candidate) ?? []).entries()) {
    const against = others[at];
    if (against === undefined) continue;
    if (isOlder(version, against)) return true;
    if (isOlder(against, version)) return false;
  }
  return msOf(candidate.metadata.creationTimestamp) < msOf(other.metadata.creationTimestamp);
}

/** Since 1.32 the candidate with the newest program decides, and nothing is elected while two of those differ. */
function strategyOf(candidates: readonly LeaseCandidate[]): string | undefined {
  const single = candidates.filter(isOfOneStrategy);
  if (single.length === 0) return firstStrategy(candidates.filter((one) => !isOfOneStrategy(one)));
  const [newest, ...others] = single
    .map(({ spec = {} }) => ({
      strategy: spec.strategy ?? '',
      binary: parseSemanticVersion(spec.binaryVersion ?? '') ?? ZERO,
    }))
    .sort((one, other) =>
      isOlder(one.binary, other.binary) ? 1 : isOlder(other.binary, one.binary) ? -1 : 0,
    );
  if (newest === undefined) return undefined;
  const rivals = others.filter(({ binary }) => !isOlder(binary, newest.binary));
  return rivals.every(({ strategy }) => strategy === newest.strategy) ? newest.strategy : undefined;
}

const ZERO: SemanticVersion = { numbers: [0n, 0n, 0n], prerelease: [] };

const isOfOneStrategy = (candidate: LeaseCandidate): candidate is beta.LeaseCandidate =>
  candidate.spec !== undefined && 'strategy' in candidate.spec;

/**
 * The strategy that comes first in an order which all candidates' preferences fit into; undefined when there is none, or when
 * more than one could come first.
 */
export function firstStrategy(candidates: readonly alpha.LeaseCandidate[]): string | undefined {
  const after = new Map<string, Set<string>>();
  for (const { spec = {} } of candidates)
    for (const [at, strategy] of (spec.preferredStrategies ?? []).entries()) {
      const later = after.get(strategy) ?? new Set();
      after.set(strategy, later);
      const next = spec.preferredStrategies?.[at + 1];
      if (next !== undefined) later.add(next);
    }
  const first = rootsOf(after);
  if (first.length !== 1) return undefined;
  while (after.size > 0) {
    const roots = rootsOf(after);
    if (roots.length === 0) return undefined;
    for (const root of roots) after.delete(root);
  }
  return first[0];
}

/** Entries that nothing precedes. */
function rootsOf(after: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const followers = new Set([...after.values()].flatMap((later) => [...later]));
  return [...after.keys()].filter((strategy) => !followers.has(strategy));
}

/** The lease after an election. A holder that still renews it reads its successor there, and steps back by itself. */
export function electedLease(lease: Lease, { holder, strategy }: Choice, now: Date): Lease {
  const { spec = {} } = lease;
  if (holder === undefined) {
    const term = { leaseDurationSeconds: TERM_SECONDS, renewTime: toMicroTime(now) };
    return { ...lease, spec: { ...(lease.spec === undefined ? term : spec), strategy } };
  }
  const before = spec.holderIdentity ?? '';
  const isFree = before === '' || (isExpired(lease, now.getTime()) && before !== holder);
  if (!isFree) {
    const preferred = before === holder ? {} : { preferredHolder: holder };
    return { ...lease, spec: { ...spec, strategy, ...preferred } };
  }
  const { preferredHolder: _, acquireTime: __, ...kept } = spec;
  return {
    ...lease,
    spec: {
      ...kept,
      strategy,
      holderIdentity: holder,
      leaseDurationSeconds: TERM_SECONDS,
      renewTime: toMicroTime(now),
    },
  };
}

export class LeaderElections {
  readonly #client: Client;
  readonly #now: () => Date;
  readonly #onError: (error: unknown) => void;

  constructor(options: {
    readonly client: Client;
    readonly now: () => Date;
    readonly onError: (error: unknown) => void;
  }) {
    this.#client = options.client.as(MANAGER, AS_SERVER);
    this.#now = options.now;
    this.#onError = options.onError;
  }

  async run(signal: AbortSignal): Promise<void> {
    const rhythm = { everyMs: ROUND_MS, retryMs: RETRY_MS, onError: this.#onError };
    await repeat(() => this.round(), signal, rhythm);
  }

  /** Checks every lease that has candidates. @throws StatusError, StorageError */
  async round(): Promise<void> {
    const wanted = new Map<string, LeaseCandidate[]>();
    for (const candidate of await this.#client.list(CANDIDATES, {}, 'cached')) {
      const key = `${candidate.metadata.namespace}/${candidate.spec?.leaseName}`;
      getOrAdd(wanted, key, () => []).push(candidate);
    }
    for (const [key, candidates] of wanted) {
      const [namespace = '', name = ''] = key.split('/');
      await this.#decide({ namespace, name }, candidates);
    }
  }

  async #decide(lease: { namespace: string; name: string }, all: readonly LeaseCandidate[]): Promise<void> {
    const nowMs = this.#now().getTime();
    const candidates: LeaseCandidate[] = [];
    for (const candidate of all)
      if (isWithin(candidate.spec?.renewTime, SILENCE_MS, nowMs)) candidates.push(candidate);
      else await this.#forget(candidate);
    const step = nextStep(await this.#client.get(LEASES, lease, 'cached'), candidates, nowMs);
    if (step.kind === 'ping') for (const candidate of step.candidates) await this.#ping(candidate);
    else if (step.kind === 'elect') await this.#elect(lease, step);
  }

  async #forget({ metadata }: LeaseCandidate): Promise<void> {
    const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata;
    await this.#client.remove(CANDIDATES, { namespace, name }, { uid, resourceVersion });
  }

  async #ping({ metadata: { namespace = '', name = '' } }: LeaseCandidate): Promise<void> {
    const pingTime = toMicroTime(this.#now());
    await this.#client.update(CANDIDATES, { namespace, name }, (copy) => ({
      ...copy,
      spec: { ...copy.spec, pingTime },
    }));
  }

  async #elect({ namespace, name }: { namespace: string; name: string }, choice: Choice): Promise<void> {
    const mend = (lease: Lease): Lease => electedLease(lease, choice, this.#now());
    const empty: Lease = {
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      metadata: { name, namespace },
    };
    await this.#client.ensure(LEASES, mend(empty), { mend });
  }
}
