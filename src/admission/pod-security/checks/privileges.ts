import { type Check, exceptWindows, type FindViolation } from '../check.ts';
import { named, namesOf } from '../wording.ts';

/** Containers that rule the node they are on. */
export const privileged: Check = {
  id: 'privileged',
  level: 'baseline',
  versions: [
    {
      since: 0,
      find: ({ containers }) => {
        const bad = containers.filter(({ context }) => context.privileged === true);
        if (bad.length === 0) return undefined;
        const who = named('container', namesOf(bad));
        return { reason: 'privileged', detail: `${who} must not set securityContext.privileged=true` };
      },
    },
  ],
};

const findEscalation: FindViolation = ({ containers }) => {
  const bad = containers.filter(({ context }) => context.allowPrivilegeEscalation !== false);
  if (bad.length === 0) return undefined;
  const who = named('container', namesOf(bad));
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${who} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

/** Processes that get more rights than their parents, by files that change their user. The field came with 1.8. */
export const allowPrivilegeEscalation: Check = {
  id: 'allowPrivilegeEscalation',
  level: 'restricted',
  versions: [
    { since: 8, find: findEscalation },
    { since: 25, find: exceptWindows(findEscalation) },
  ],
};
