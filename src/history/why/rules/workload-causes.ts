import type { JsonObject } from '../../../api/json.ts';
import { equal } from '../../../object/equality.ts';
import { objectAt } from '../../../object/json-values.ts';
import { controllerOf, trustIn } from '../authors.ts';
import { cause, firstOf, type PastWrite, type Rule } from '../past.ts';
import {
  annotationOf,
  changesField,
  changesWanted,
  makerOf,
  type OwnerReference,
  replicasOf,
  specOf,
  stateOf,
} from '../states.ts';
import { podMade } from './pod-causes.ts';
import { LAST, newestOf, newestOfOwner, ownerOf, writesOf } from './reading.ts';

/** What controllers of workloads make and scale, by what their owner wants. */

const isCalled = ({ verb }: PastWrite, maker: OwnerReference | undefined, kind: string): boolean =>
  verb !== 'delete' && maker?.kind === kind;

/** Returns the template of a Deployment's objects, without the label that names it. */
function templateOf(state: JsonObject | undefined): JsonObject {
  const template = objectAt(state, 'spec', 'template');
  const { 'pod-template-hash': _, ...labels } = objectAt(template, 'metadata', 'labels');
  return { ...template, metadata: { ...objectAt(template, 'metadata'), labels } };
}

/**
 * A ReplicaSet is made for a template: its cause is the Deployment's write with the very same one, though a newer template may have
 * been written before the controller saw it.
 */
const replicaSetMade: Rule = async (effect, past) => {
  const maker = makerOf(effect.is);
  const owner = maker === undefined ? undefined : ownerOf(effect, maker, past);
  if (effect.verb !== 'create' || maker?.kind !== 'Deployment' || owner === undefined) return undefined;
  const wanted = templateOf(effect.is);
  let newest: PastWrite | undefined;
  for await (const write of writesOf(past, owner, effect.revision)) {
    if (!changesField(write, 'spec', 'template') && !resumes(write)) continue;
    newest ??= write;
    if (!equal(templateOf(write.is), wanted)) continue;
    return cause(
      write,
      'certain',
      `Its pod template is the one that Deployment ${maker.name} with uid ${maker.uid} has since revision ${write.revision}.`,
    );
  }
  if (newest === undefined) return undefined;
  return cause(
    newest,
    trustIn(effect),
    `Deployment ${maker.name} with uid ${maker.uid} controls it, and changed its pod template last by revision ${newest.revision}.`,
  );
};

const resumes = ({ was, is }: PastWrite): boolean =>
  specOf(was).paused === true && specOf(is).paused !== true;

const DESIRED = 'deployment.kubernetes.io/desired-replicas';

/** A Deployment scales its ReplicaSets while it rolls out, and when it is scaled itself; then they say to how many. */
const replicaSetScaled: Rule = async (effect, past) => {
  const maker = makerOf(effect.is);
  if (effect.verb !== 'update' || !isCalled(effect, maker, 'Deployment') || maker === undefined)
    return undefined;
  if (!changesWanted(effect) && !changesField(effect, 'metadata', 'annotations')) return undefined;
  const desired = annotationOf(effect.is, DESIRED);
  if (desired !== annotationOf(effect.was, DESIRED)) {
    const scaled = await newestOfOwner(
      effect,
      maker,
      past,
      (write) => changesField(write, 'spec', 'replicas') && String(replicasOf(write.is)) === desired,
    );
    if (!('why' in scaled))
      return cause(
        scaled,
        'certain',
        `It says that Deployment ${maker.name} wants ${desired} replicas, as that does since revision ${scaled.revision}.`,
      );
  }
  const answered = await newestOfOwner(effect, maker, past, changesWanted);
  if ('why' in answered) return answered;
  return cause(
    answered,
    trustIn(effect),
    `Deployment ${maker.name} with uid ${maker.uid} controls it, and rolls out what it wants, and revision ${answered.revision} is the last before it that changed that.`,
  );
};

/** A CronJob makes a Job when the clock says so. */
const jobMade: Rule = async (effect, past) => {
  const maker = makerOf(effect.is);
  if (effect.verb !== 'create' || maker?.kind !== 'CronJob') return undefined;
  const answered = await newestOfOwner(effect, maker, past, changesWanted);
  if ('why' in answered) return answered;
  const due = annotationOf(effect.is, 'batch.kubernetes.io/cronjob-scheduled-timestamp');
  return cause(
    answered,
    'likely',
    `CronJob ${maker.name} with uid ${maker.uid} controls it, and its schedule${due === '' ? '' : ` was due at ${due} and`} is as revision ${answered.revision} left it.`,
  );
};

/** Any other owner, of built-in kinds and custom ones. */
const madeByOwner: Rule = async (effect, past) => {
  const maker = makerOf(stateOf(effect));
  if (maker === undefined || effect.verb === 'delete') return undefined;
  if (effect.verb !== 'create' && !changesWanted(effect)) return undefined;
  const answered = await newestOfOwner(effect, maker, past, changesWanted);
  if ('why' in answered) return answered;
  return cause(
    answered,
    trustIn(effect),
    `${maker.kind} ${maker.name} with uid ${maker.uid} owns it, and revision ${answered.revision} ${LAST}.`,
  );
};

const CLAIM = /-(?<ordinal>\d+)$/;

/** Claims of a StatefulSet have no owner. Their names are made of a template, the set and the pod's number. */
const claimMade: Rule = async (effect, past) => {
  if (
    effect.key.resource !== 'persistentvolumeclaims' ||
    effect.verb !== 'create' ||
    controllerOf(effect) !== 'statefulset-controller'
  )
    return undefined;
  const parts = effect.key.name.replace(CLAIM, '').split('-');
  for (let at = 1; at < Math.min(parts.length, 8); at += 1) {
    const name = parts.slice(at).join('-');
    const key = { group: 'apps', resource: 'statefulsets', namespace: effect.key.namespace, name };
    const answered = await newestOf(past.ofName(key, { before: effect.revision }), changesWanted);
    if (answered !== undefined)
      return cause(
        answered,
        'likely',
        `Its name is that of a claim of StatefulSet ${name}, which revision ${answered.revision} changed last before it.`,
      );
  }
  return undefined;
};

export const ownerAnswered: Rule = firstOf(
  replicaSetMade,
  replicaSetScaled,
  podMade,
  jobMade,
  claimMade,
  madeByOwner,
);
