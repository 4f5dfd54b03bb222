import type { GroupResource } from '../../../api/names.ts';
import { equal } from '../../../object/equality.ts';
import { controllerOf, isBySame, isOfKubernetes, nodeOf, trustIn } from '../authors.ts';
import { cause, type PastWrite, type Rule, unknown } from '../past.ts';
import {
  annotationOf,
  asksDeletion,
  changesStatus,
  changesWanted,
  conditionOf,
  generationOf,
  observedGeneration,
  specOf,
  statusOf,
} from '../states.ts';
import { isFinished } from './deletion-causes.ts';
import { hasAnswered, newestOf, newestOwn, type Test, writesOfOwned } from './reading.ts';

/** What controllers and nodes report of objects. */

/** A status that observes a generation answers the write that made it. */
export const generationObserved: Rule = async (effect, past) => {
  const observed = observedGeneration(effect.is);
  if (effect.verb !== 'update' || observed === 0 || observed === observedGeneration(effect.was))
    return undefined;
  const made = await newestOwn(
    past,
    effect,
    ({ verb, was, is }) =>
      generationOf(is) === observed && (verb === 'create' || generationOf(was) !== observed),
  );
  if (made === undefined)
    return unknown(`The write that made generation ${observed} of it is ${past.beyond()}.`);
  return cause(
    made,
    'certain',
    `The status tells of generation ${observed}, which revision ${made.revision} made.`,
  );
};

/** The scheduler places a pod once it exists. */
export const placed: Rule = async (effect, past) => {
  if (controllerOf(effect) !== 'kube-scheduler' || effect.key.resource !== 'pods' || effect.verb !== 'update')
    return undefined;
  const answered = await newestOwn(past, effect, (write) => changesWanted(write) && !isBySame(write, effect));
  if (answered === undefined) return undefined;
  const waited = await hasAnswered(past, effect, answered);
  const node = String(specOf(effect.is).nodeName ?? '');
  const did = node === '' ? 'looked for one' : `placed it on Node ${node}`;
  if (!waited)
    return cause(
      answered,
      'certain',
      `The pod waited for a node since revision ${answered.revision}, and the scheduler ${did}.`,
    );
  return cause(
    answered,
    'likely',
    `The pod waited for a node since revision ${answered.revision}, and the scheduler ${did}; what let it do so only then is not recorded.`,
  );
};

/** A kubelet reports on its pods once they are bound to its node. */
export const reportedByNode: Rule = async (effect, past) => {
  if (controllerOf(effect) !== 'kubelet') return undefined;
  const node = nodeOf(effect);
  if (effect.key.resource !== 'pods')
    return unknown(
      `The kubelet${node === '' ? '' : ` of ${node}`} tells of its node; what happens there is not in history.`,
    );
  if (annotationOf(effect.is, 'kubernetes.io/config.mirror') !== '')
    return unknown('It is a pod of a file on its node; what happens there is not in history.');
  const answered = await newestOwn(
    past,
    effect,
    (write) => !isBySame(write, effect) && (changesWanted(write) || asksDeletion(write)),
  );
  if (answered === undefined) return undefined;
  return cause(
    answered,
    'likely',
    `The kubelet${node === '' ? '' : ` of ${node}`} reports what became of the pod, and revision ${answered.revision} is the last before that another wrote for it to do.`,
  );
};

const PODS = { group: '', resource: 'pods' };

/** The objects that a status sums up. */
const SUMMED: Readonly<Record<string, GroupResource>> = {
  'deployments.apps': { group: 'apps', resource: 'replicasets' },
  'replicasets.apps': PODS,
  'replicationcontrollers.': PODS,
  'statefulsets.apps': PODS,
  'daemonsets.apps': PODS,
  'jobs.batch': PODS,
  'cronjobs.batch': { group: 'batch', resource: 'jobs' },
};

/** Finds the newest change of what is summed up, of the sort that the changed numbers are about. */
export const summedUp: Rule = async (effect, past) => {
  const { group, resource } = effect.key;
  const summed = SUMMED[`${resource}.${group}`];
  if (summed === undefined || !changesStatus(effect)) return undefined;
  const counts = summed === PODS ? countsOf(effect) : changesStatusOrEnds;
  const changed = await newestOf(writesOfOwned(past, effect, summed, { before: effect.revision }), counts);
  if (changed === undefined) return undefined;
  return cause(
    changed,
    'likely',
    `It sums up the ${summed.resource} that it controls, and revision ${changed.revision} is the last before it that changed one of these.`,
  );
};

const changesStatusOrEnds: Test = (write) =>
  write.verb !== 'update' || changesStatus(write) || asksDeletion(write);

/** Returns which writes of pods change the numbers that this status changed: of all, of ready or of ended ones. */
function countsOf(effect: PastWrite): Test {
  const was = statusOf(effect.was);
  const is = statusOf(effect.is);
  const changed = Object.keys({ ...was, ...is }).filter(
    (name) => name !== 'conditions' && !equal(was[name], is[name]),
  );
  const ends: Test = (write) => asksDeletion(write) || (isFinished(write.is) && !isFinished(write.was));
  const counts: Test = (write) => write.verb !== 'update' || ends(write);
  if (changed.length > 0 && changed.every((name) => /succeeded|failed|completion/i.test(name))) return ends;
  if (changed.length > 0 && !changed.some((name) => /ready|available/i.test(name))) return counts;
  return (write) => counts(write) || conditionOf(write.was, 'Ready') !== conditionOf(write.is, 'Ready');
}

/** Any other write of a controller answers, as far as can be known, what others wrote to the same object. */
export const answersObject: Rule = async (effect, past) => {
  const isWanting = changesWanted(effect) || asksDeletion(effect);
  // A client with rights of its own may well have wanted what it wrote.
  if (effect.verb === 'create' || (isWanting && !isOfKubernetes(effect))) return undefined;
  const isStatusAlone = changesStatus(effect) && !isWanting;
  const answered = await newestOwn(
    past,
    effect,
    (write) => !isBySame(write, effect) && (!isStatusAlone || changesWanted(write) || asksDeletion(write)),
  );
  if (answered === undefined) return undefined;
  const isFirst = !(await hasAnswered(past, effect, answered));
  const sure = isFirst ? trustIn(effect) : 'possible';
  const order = isFirst ? 'the first of this author since' : 'later than';
  return cause(
    answered,
    sure,
    `It is ${order} revision ${answered.revision}, in which another author wrote to the same object.`,
  );
};
