import type { JsonObject } from '../../../api/json.ts';
import { numberOf, objectAt } from '../../../object/json-values.ts';
import { controllerOf, trustIn } from '../authors.ts';
import { cause, type Finding, firstOf, type Past, type PastWrite, type Rule, unknown } from '../past.ts';
import {
  asksDeletion,
  changesField,
  changesWanted,
  generationOf,
  isEnding,
  labelOf,
  makerOf,
  type OwnerReference,
  replicasOf,
  statusOf,
} from '../states.ts';
import { isFinished } from './deletion-causes.ts';
import { LAST, newestOf, newestOfOwner, ownerOf, writesOf, writesOfOwned } from './reading.ts';

/** Pods, made because more or other ones are wanted, or one is gone. */

const PODS = { group: '', resource: 'pods' };
const isPodMade = ({ verb, key }: PastWrite): boolean => verb === 'create' && key.resource === PODS.resource;

const CONTROLLER_REVISIONS = { group: 'apps', resource: 'controllerrevisions' };

/**
 * A pod of a ReplicaSet is made because more are wanted, or because one is gone. The ReplicaSet's status says when it had as many
 * as it wanted: a later pod replaces another.
 */
const podOfSetMade: Rule = async (effect, past) => {
  const maker = makerOf(effect.is);
  if (!isPodMade(effect) || (maker?.kind !== 'ReplicaSet' && maker?.kind !== 'ReplicationController'))
    return undefined;
  const owner = ownerOf(effect, maker, past);
  if (owner === undefined)
    return unknown(`Its owner, ${maker.kind} ${maker.name}, is of a kind that is not served.`);
  let whole: PastWrite | undefined;
  const grown = await newestOf(writesOf(past, owner, effect.revision), (write) => {
    if (wantsMore(write)) return true;
    if (isWhole(write.is)) whole = write;
    return false;
  });
  const lost = await podLost(effect, maker, past, grown);
  const controls = `${maker.kind} ${maker.name} with uid ${maker.uid} controls it`;
  if (lost !== undefined && (whole === undefined ? grown === undefined : whole.revision < lost.revision))
    return cause(
      lost,
      'likely',
      `${controls}, and replaces pods that are gone; it had all its pods before revision ${lost.revision} ended one of them.`,
    );
  if (grown === undefined)
    return unknown(
      `The last change of the spec of ${maker.kind} ${maker.name} with uid ${maker.uid} is ${past.beyond()}.`,
    );
  const asked = `${controls}, and wants ${replicasOf(grown.is)} since revision ${grown.revision}`;
  if (lost === undefined && whole === undefined)
    return cause(grown, 'certain', `${asked}; it had fewer when this one was made.`);
  return cause(grown, lost === undefined ? 'possible' : 'likely', `${asked}.`);
};

const wantsMore = ({ verb, was, is }: PastWrite): boolean =>
  verb === 'create'
    ? replicasOf(is) > 0
    : verb === 'update' && was !== undefined && replicasOf(is) > replicasOf(was);

const isWhole = (state: JsonObject | undefined): boolean =>
  numberOf(statusOf(state).observedGeneration) === generationOf(state) &&
  numberOf(statusOf(state).replicas) >= replicasOf(state);

/** Finds the pod of the same owner that ended last, and not by the owner's own controller. */
function podLost(
  effect: PastWrite,
  { uid, name }: OwnerReference,
  past: Past,
  since: PastWrite | undefined,
): Promise<PastWrite | undefined> {
  const owner = { uid, key: { ...effect.key, name } };
  const stretch = { before: effect.revision, ...(since === undefined ? {} : { after: since.revision }) };
  return newestOf(
    writesOfOwned(past, owner, PODS, stretch),
    (write) => controllerOf(write) !== controllerOf(effect) && ends(write),
  );
}

/** Whether a pod ceased to count by this write. */
const ends = (write: PastWrite): boolean =>
  asksDeletion(write) ||
  (write.verb === 'update' && isFinished(write.is) && !isFinished(write.was) && !isEnding(write.was));

const HASH = 'controller-revision-hash';

/** A pod of a StatefulSet or DaemonSet: for a new template, node or number, or in the place of one that is gone. */
const podOfTemplateMade: Rule = async (effect, past) => {
  const maker = makerOf(effect.is);
  if (!isPodMade(effect) || (maker?.kind !== 'StatefulSet' && maker?.kind !== 'DaemonSet')) return undefined;
  const answered = await newestOfOwner(effect, maker, past, await isForHash(effect, maker, past));
  const since = 'why' in answered ? undefined : answered;
  const controls = `${maker.kind} ${maker.name} with uid ${maker.uid} controls it`;
  const before = await newestOf(past.ofName(effect.key, { before: effect.revision }), asksDeletion);
  if (
    before !== undefined &&
    before.revision > (since?.revision ?? 0n) &&
    makerOf(before.was)?.uid === maker.uid
  )
    return cause(
      before,
      'likely',
      `${controls}, and makes it in the place of the pod of the same name whose deletion revision ${before.revision} asked for.`,
    );
  const node = await nodeAdded(effect, past, since);
  if (node !== undefined) return node;
  if (since === undefined || 'why' in answered) return 'why' in answered ? answered : undefined;
  const hash = labelOf(effect.is, HASH);
  return cause(
    since,
    trustIn(effect),
    `${controls}, and revision ${since.revision} ${LAST}${hash === '' ? '' : `; the pod has its template ${hash}`}.`,
  );
};

/** Accepts the template of the pod where several follow each other quickly: it was written before its ControllerRevision. */
async function isForHash(
  effect: PastWrite,
  maker: OwnerReference,
  past: Past,
): Promise<(write: PastWrite) => boolean> {
  const hash = labelOf(effect.is, HASH);
  if (hash === '') return changesWanted;
  const name = hash.startsWith(`${maker.name}-`) ? hash : `${maker.name}-${hash}`;
  const key = { ...CONTROLLER_REVISIONS, namespace: effect.key.namespace, name };
  const made = await newestOf(past.ofName(key, { before: effect.revision }), ({ verb }) => verb === 'create');
  return (write) =>
    changesWanted(write) &&
    (made === undefined || write.revision < made.revision || !changesField(write, 'spec', 'template'));
}

const NODE_NAME = /"metadata\.name","operator":"In","values":\["([^"]+)"\]/;

/** A DaemonSet makes a pod for a node, which the pod's affinity names. */
async function nodeAdded(
  effect: PastWrite,
  past: Past,
  since: PastWrite | undefined,
): Promise<Finding | undefined> {
  const affinity = objectAt(effect.is, 'spec', 'affinity', 'nodeAffinity');
  const [, name = ''] = NODE_NAME.exec(JSON.stringify(affinity)) ?? [];
  if (name === '') return undefined;
  const key = { group: '', resource: 'nodes', namespace: '', name };
  const added = await newestOf(
    past.ofName(key, { before: effect.revision, ...(since === undefined ? {} : { after: since.revision }) }),
    (write) =>
      write.verb === 'create' ||
      changesField(write, 'spec', 'taints') ||
      changesField(write, 'metadata', 'labels'),
  );
  if (added === undefined) return undefined;
  return cause(
    added,
    'likely',
    `It is for Node ${name}, which revision ${added.revision} ${added.verb === 'create' ? 'added' : 'changed'} after the owner's last change.`,
  );
}

/** A Job makes another pod when one of its pods has ended, well or not. */
const podOfJobMade: Rule = async (effect, past) => {
  const maker = makerOf(effect.is);
  if (!isPodMade(effect) || maker?.kind !== 'Job') return undefined;
  const answered = await newestOfOwner(effect, maker, past, changesWanted);
  const lost = await podLost(effect, maker, past, 'why' in answered ? undefined : answered);
  const controls = `Job ${maker.name} with uid ${maker.uid} controls it`;
  if (lost !== undefined)
    return cause(
      lost,
      'likely',
      `${controls}, and goes on after revision ${lost.revision}, with which another of its pods ended.`,
    );
  if ('why' in answered) return answered;
  return cause(answered, trustIn(effect), `${controls}, and revision ${answered.revision} ${LAST}.`);
};

export const podMade: Rule = firstOf(podOfSetMade, podOfTemplateMade, podOfJobMade);
