import { controllerOf, isOfKubernetes, trustIn } from '../authors.ts';
import {
  type Cause,
  cause,
  type Finding,
  firstOf,
  type Past,
  type PastWrite,
  type Rule,
  unknown,
} from '../past.ts';
import {
  asksDeletion,
  changesField,
  changesWanted,
  conditionOf,
  continuesDeletion,
  makerOf,
  type OwnerReference,
  ownersOf,
  removesFinalizers,
  replicasOf,
  specOf,
  stateOf,
  statusOf,
} from '../states.ts';
import { newestOf, newestOfOwner, newestOwn, ownerOf, writesOf } from './reading.ts';

/** Objects that end: by the collector, with their namespace, or because a controller wants fewer of them. */

const COLLECTOR = 'generic-garbage-collector';
const NAMESPACES = { group: '', resource: 'namespaces' };
const NODES = { group: '', resource: 'nodes' };

/** After the request to delete, finalizers are removed, and in the end the object is. */
export const deletionGoesOn: Rule = async (effect, past) => {
  if (!continuesDeletion(effect)) return undefined;
  if (effect.verb !== 'delete' && !removesFinalizers(effect)) return undefined;
  const asked = await newestOwn(past, effect, asksDeletion);
  if (asked !== undefined)
    return cause(
      asked,
      'certain',
      `Revision ${asked.revision} set metadata.deletionTimestamp of the same object.`,
    );
  return unknown(`The request to delete it is ${past.beyond()}.`);
};

/** The collector deletes objects without an owner, and those that their owner waits for. */
const collected: Rule = async (effect, past) => {
  if (controllerOf(effect) !== COLLECTOR || !asksDeletion(effect)) return undefined;
  return newestEndOf(effect, ownersOf(effect.was), past);
};

/** The collector removes references to owners that are gone, where one is left or dependents are orphaned. */
export const ownerForgotten: Rule = async (effect, past) => {
  if (controllerOf(effect) !== COLLECTOR || !changesField(effect, 'metadata', 'ownerReferences'))
    return undefined;
  const left = new Set(ownersOf(effect.is).map(({ uid }) => uid));
  return newestEndOf(
    effect,
    ownersOf(effect.was).filter(({ uid }) => !left.has(uid)),
    past,
  );
};

/** Returns the end of the owner that ended last, or a later removal of a reference. */
async function newestEndOf(
  effect: PastWrite,
  owners: readonly OwnerReference[],
  past: Past,
): Promise<Finding | undefined> {
  const ends: Cause[] = [];
  for (const reference of owners) {
    const end = await endOf(effect, reference, past);
    if (end !== undefined) ends.push(end);
  }
  const newest = ends.sort((a, b) => (a.write.revision > b.write.revision ? -1 : 1))[0];
  if (newest === undefined) {
    const named = owners.map(({ kind, name, uid }) => `${kind} ${name} with uid ${uid}`).join(', ');
    return unknown(`The end of its owner, ${named}, is ${past.beyond()}.`);
  }
  const loss = await newestOwn(
    past,
    effect,
    (write) =>
      write.revision > newest.write.revision && ownersOf(write.was).length > ownersOf(write.is).length,
  );
  if (loss === undefined) return newest;
  return cause(
    loss,
    'certain',
    `Revision ${loss.revision} removed the reference to an owner that is still there.`,
  );
}

async function endOf(effect: PastWrite, reference: OwnerReference, past: Past): Promise<Cause | undefined> {
  const owner = ownerOf(effect, reference, past);
  if (owner === undefined) return undefined;
  const end = await newestOf(
    writesOf(past, owner, effect.revision),
    (write) => write.verb === 'delete' || asksDeletion(write),
  );
  if (end === undefined) return undefined;
  const what = end.verb === 'delete' ? 'deleted' : 'asked for the deletion of';
  return cause(
    end,
    'certain',
    `It is owned by the ${reference.kind} ${reference.name} with uid ${reference.uid}, and revision ${end.revision} ${what} that object.`,
  );
}

const withNamespace: Rule = async (effect, past) => {
  if (controllerOf(effect) !== 'namespace-controller' || effect.key.namespace === '') return undefined;
  const key = { ...NAMESPACES, namespace: '', name: effect.key.namespace };
  const asked = await newestOf(past.ofName(key, { before: effect.revision }), asksDeletion);
  if (asked === undefined) return unknown(`The request to delete its namespace is ${past.beyond()}.`);
  return cause(
    asked,
    'certain',
    `The namespace controller deletes what is in a namespace once that is to end, which revision ${asked.revision} asked for.`,
  );
};

const OF_NODES = new Set([
  'node-controller',
  'node-lifecycle-controller',
  'taint-eviction-controller',
  'pod-garbage-collector',
]);

/** Pods of a node that is gone, silent or tainted. */
export const becauseOfNode: Rule = async (effect, past) => {
  const node = String(specOf(effect.was).nodeName ?? '');
  if (!OF_NODES.has(controllerOf(effect)) || node === '') return undefined;
  const key = { ...NODES, namespace: '', name: node };
  const trouble = await newestOf(past.ofName(key, { before: effect.revision }), isTroubleOfNode);
  if (trouble === undefined) return undefined;
  return cause(
    trouble,
    'likely',
    `It is on Node ${node}, and ${controllerOf(effect)} acts upon the node's end, its taints and its readiness; revision ${trouble.revision} is the last that changed one of these.`,
  );
};

const isTroubleOfNode = (write: PastWrite): boolean =>
  write.verb === 'delete' ||
  asksDeletion(write) ||
  changesField(write, 'spec', 'taints') ||
  (write.verb === 'update' && conditionOf(write.was, 'Ready') !== conditionOf(write.is, 'Ready'));

/** Objects that finished, and were kept for some time. */
const finishedBefore: Rule = async (effect, past) => {
  if (
    !['ttl-after-finished-controller', 'cronjob-controller', 'pod-garbage-collector'].includes(
      controllerOf(effect),
    )
  )
    return undefined;
  const finished = await newestOwn(past, effect, (write) => isFinished(write.is) && !isFinished(write.was));
  if (finished === undefined) return undefined;
  return cause(
    finished,
    'likely',
    `${controllerOf(effect)} deletes what has finished, and revision ${finished.revision} says that this had.`,
  );
};

export const isFinished = (state: PastWrite['is']): boolean =>
  ['Succeeded', 'Failed'].includes(String(statusOf(state).phase ?? '')) ||
  conditionOf(state, 'Complete') === 'True' ||
  conditionOf(state, 'Failed') === 'True';

/** The scheduler deletes pods to make room for others, which it names only afterwards. */
const preempted: Rule = ({ user, key }) =>
  user === 'system:kube-scheduler' && key.resource === 'pods'
    ? unknown('The scheduler made room for a pod of a higher priority; which one is not recorded.')
    : undefined;

/** Objects with a lifetime, such as Events, are deleted by the server when it is over. */
const expired: Rule = async (effect, past) => {
  if (effect.user !== 'system:apiserver' || effect.key.resource !== 'events') return undefined;
  const last = await newestOwn(past, effect, () => true);
  return last === undefined
    ? undefined
    : cause(
        last,
        'likely',
        `Events are deleted some time after they were last written, which was by revision ${last.revision}.`,
      );
};

/** A controller deletes its own when its owner wants fewer, or others. */
const unwanted: Rule = async (effect, past) => {
  const maker = makerOf(stateOf(effect));
  if (maker === undefined || isByAnother(effect, maker)) return undefined;
  const found = await newestOfOwner(effect, maker, past, wantsLess(maker));
  if ('why' in found) return found;
  return cause(
    found,
    trustIn(effect),
    `${maker.kind} ${maker.name} with uid ${maker.uid} controls it, and revision ${found.revision} is the last before it after which the owner may want it no more.`,
  );
};

/** The scheduler, a node or some tool deletes what is not its own. */
const isByAnother = (effect: PastWrite, { group }: OwnerReference): boolean =>
  isOfKubernetes(effect)
    ? ['kube-scheduler', 'kubelet'].includes(controllerOf(effect))
    : group === 'apps' || group === 'batch';

/** A ReplicaSet has only a number; others replace what differs from what they want. */
const wantsLess =
  ({ kind }: OwnerReference) =>
  (write: PastWrite): boolean => {
    if (write.verb === 'delete' || asksDeletion(write)) return true;
    if (kind !== 'ReplicaSet' && kind !== 'ReplicationController') return changesWanted(write);
    return write.verb === 'update' && replicasOf(write.is) < replicasOf(write.was);
  };

export const deletionAsked: Rule = (effect, past) =>
  asksDeletion(effect)
    ? firstOf(
        collected,
        withNamespace,
        finishedBefore,
        becauseOfNode,
        preempted,
        expired,
        unwanted,
      )(effect, past)
    : undefined;
