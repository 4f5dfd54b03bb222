import type { Check, FindViolation } from '../check.ts';
import { named, namesOf, settersOf } from '../wording.ts';

const NOT_NON_ROOT = 'runAsNonRoot != true';

const findRoot: FindViolation = ({ context, containers, hasOwnUsers }) => {
  if (hasOwnUsers) return undefined;
  const may = containers.filter((container) => container.context.runAsNonRoot === false);
  const setters = settersOf(context.runAsNonRoot === false, may);
  if (setters !== '') {
    return { reason: NOT_NON_ROOT, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  }
  if (context.runAsNonRoot === true) return undefined;
  const silent = containers.filter((container) => container.context.runAsNonRoot === undefined);
  if (silent.length === 0) return undefined;
  const who = named('container', namesOf(silent));
  return { reason: NOT_NON_ROOT, detail: `pod or ${who} must set securityContext.runAsNonRoot=true` };
};

/** The pod, or each container, has to say that it is not root. */
export const runAsNonRoot: Check = {
  id: 'runAsNonRoot',
  level: 'restricted',
  versions: [{ since: 0, find: findRoot }],
};

const findUserZero: FindViolation = ({ context, containers, hasOwnUsers }) => {
  if (hasOwnUsers) return undefined;
  const bad = containers.filter((container) => container.context.runAsUser === 0);
  const setters = settersOf(context.runAsUser === 0, bad);
  return setters === ''
    ? undefined
    : { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` };
};

export const runAsUser: Check = {
  id: 'runAsUser',
  level: 'restricted',
  versions: [{ since: 23, find: findUserZero }],
};
