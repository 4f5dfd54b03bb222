import { PODS } from '../../api/known-resources.ts';
import type { Pod } from '../../api/types/core/v1.ts';
import { parseStored } from '../../codec/stored-object.ts';
import { ObjectReader } from '../../storage/object-reader.ts';
import type { Entry, Store } from '../../storage/store.ts';
import { Pace } from '../../util/turns.ts';
import { type Evaluator, reasonsOf } from './evaluator.ts';
import { type LevelVersion, toText } from './namespace-levels.ts';
import { toCheckedPod } from './pod-check.ts';

/** Limits the work for a namespace whose policy changes. */
export interface Bounds {
  readonly mostPods: number;
  readonly mostMs: number;
}

/** Kubernetes' limits. */
export const BOUNDS: Bounds = { mostPods: 3000, mostMs: 1000 };

/** Reading pods holds the event loop no longer than this. */
const TURN_MS = 5;

interface ExistingPods {
  readonly store: Store;
  readonly evaluator: Evaluator;
  readonly exemptRuntimeClasses: ReadonlySet<string>;
  readonly relaxesOwnUsers: boolean;
  readonly bounds: Bounds;
  /** Milliseconds that only grow. */
  readonly clock: () => number;
}

/** Warnings about existing pods that violate a stricter policy of their namespace, which does not affect them. */
export async function warningsOf(
  context: ExistingPods,
  namespace: string,
  enforce: LevelVersion,
): Promise<string[]> {
  const deadline = context.clock() + context.bounds.mostMs;
  const entries = await listPods(context.store, namespace);
  if (entries === undefined || context.clock() > deadline)
    return ['failed to list pods while checking new PodSecurity enforce level'];
  const { pods, total } = await prioritize(context, entries, deadline);
  const { byReason, checked } = await check(context, pods, enforce, deadline);
  return [
    ...(checked < total
      ? [`new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`]
      : []),
    ...(byReason.size > 0
      ? [
          `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${toText(enforce)}"`,
        ]
      : []),
    ...[...byReason].map(([reason, { first, count }]) => `${first}${others(count)}: ${reason}`).sort(),
  ];
}

/** Undefined: the pods cannot be read. */
async function listPods(store: Store, namespace: string): Promise<readonly Entry[] | undefined> {
  try {
    return await new ObjectReader(store).entries(PODS, { namespace }, 'cached');
  } catch {
    return undefined;
  }
}

function others(count: number): string {
  if (count === 1) return '';
  return count === 2 ? ' (and 1 other pod)' : ` (and ${count - 1} other pods)`;
}

interface Prioritized {
  /** The pods to check, in this order. */
  readonly pods: readonly Pod[];
  /** The number of pods under the policy, including those that were not read in time. */
  readonly total: number;
}

/** The first pod of each controller comes before all others, because pods of one controller are mostly alike. */
async function prioritize(
  { exemptRuntimeClasses, bounds, clock }: ExistingPods,
  entries: readonly Entry[],
  deadline: number,
): Promise<Prioritized> {
  const first: Pod[] = [];
  const again: Pod[] = [];
  const controllers = new Set<string>();
  // Reading takes at most half of the time, so that the rest suffices for checking.
  const readUntil = (clock() + deadline) / 2;
  const pace = new Pace({ stepsBetween: 1, turnMs: TURN_MS, now: clock });
  let total = 0;
  for (const [at, { json }] of entries.entries()) {
    if (at > 0 && clock() > readUntil) {
      total += entries.length - at;
      break;
    }
    const pod = parseStored<Pod>(json);
    if (!exemptRuntimeClasses.has(pod.spec?.runtimeClassName ?? '')) {
      total += 1;
      const controller = controllerOf(pod);
      const list = controller !== undefined && controllers.has(controller) ? again : first;
      if (controller !== undefined) controllers.add(controller);
      // Further pods will not be checked.
      if (list.length < bounds.mostPods) list.push(pod);
    }
    if (pace.isOver()) await pace.rest();
  }
  return { pods: [...first, ...again].slice(0, bounds.mostPods), total };
}

const controllerOf = ({ metadata }: Pod): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;

interface Violators {
  /** By name. */
  first: string;
  count: number;
}

async function check(
  { evaluator, relaxesOwnUsers, clock }: ExistingPods,
  pods: readonly Pod[],
  enforce: LevelVersion,
  deadline: number,
): Promise<{ readonly byReason: ReadonlyMap<string, Violators>; readonly checked: number }> {
  const byReason = new Map<string, Violators>();
  const pace = new Pace({ stepsBetween: 1, turnMs: TURN_MS, now: clock });
  let checked = 0;
  for (const { metadata, spec = {} } of pods) {
    const { annotations, name = '' } = metadata;
    const violations = evaluator.violationsOf(enforce, toCheckedPod(annotations, spec, relaxesOwnUsers));
    if (violations.length > 0) note(byReason, reasonsOf(violations), name);
    checked += 1;
    if (clock() > deadline) break;
    if (pace.isOver()) await pace.rest();
  }
  return { byReason, checked };
}

function note(byReason: Map<string, Violators>, reason: string, name: string): void {
  const violators = byReason.get(reason);
  if (violators === undefined) {
    byReason.set(reason, { first: name, count: 1 });
    return;
  }
  violators.count += 1;
  if (name < violators.first) violators.first = name;
}
