import {
  type Check,
  type CheckedContainer,
  exceptOwnUsers,
  exceptWindows,
  type FindViolation,
  named,
  namesOf,
  quoted,
  settersOf,
  sorted,
} from '../pod-check.ts';

/** Privileged containers control their node. */
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

/** Processes must not get more rights than their parents, by files that change the user. The field came with 1.8. */
export const allowPrivilegeEscalation: Check = {
  id: 'allowPrivilegeEscalation',
  level: 'restricted',
  versions: [
    { since: 8, find: findEscalation },
    { since: 25, find: exceptWindows(findEscalation) },
  ],
};

/** The capabilities that runtimes give by default, without NET_RAW. */
const DEFAULTS: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

const BIND_SERVICE: ReadonlySet<string> = new Set(['NET_BIND_SERVICE']);

const listOf = ({ context }: CheckedContainer, list: 'add' | 'drop'): readonly string[] =>
  context.capabilities?.[list] ?? [];

/** Undefined: no container adds a forbidden capability. */
function describeAdded(
  containers: readonly CheckedContainer[],
  allowed: ReadonlySet<string>,
): string | undefined {
  const forbidden = (container: CheckedContainer): string[] =>
    listOf(container, 'add').filter((capability) => !allowed.has(capability));
  const bad = containers.filter((container) => forbidden(container).length > 0);
  if (bad.length === 0) return undefined;
  const what = quoted(sorted(bad.flatMap(forbidden)));
  return `${named('container', namesOf(bad))} must not include ${what} in securityContext.capabilities.add`;
}

export const capabilitiesBaseline: Check = {
  id: 'capabilities_baseline',
  level: 'baseline',
  versions: [
    {
      since: 0,
      find: ({ containers }) => {
        const detail = describeAdded(containers, DEFAULTS);
        return detail === undefined ? undefined : { reason: 'non-default capabilities', detail };
      },
    },
  ],
};

const findUnrestricted: FindViolation = ({ containers }) => {
  const keeping = containers.filter((container) => !listOf(container, 'drop').includes('ALL'));
  const added = describeAdded(containers, BIND_SERVICE);
  const details = [
    ...(keeping.length === 0
      ? []
      : [`${named('container', namesOf(keeping))} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(added === undefined ? [] : [added]),
  ];
  return details.length === 0
    ? undefined
    : { reason: 'unrestricted capabilities', detail: details.join('; ') };
};

const overrides = [capabilitiesBaseline.id];

/** All capabilities must be dropped; only the one for ports below 1024 may be added again. */
export const capabilitiesRestricted: Check = {
  id: 'capabilities_restricted',
  level: 'restricted',
  versions: [
    { since: 22, find: findUnrestricted, overrides },
    { since: 25, find: exceptWindows(findUnrestricted), overrides },
  ],
};

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

/** The pod or each container must state that it does not run as root. */
export const runAsNonRoot: Check = {
  id: 'runAsNonRoot',
  level: 'restricted',
  versions: [
    { since: 0, find: findRoot },
    { since: 35, find: exceptOwnUsers(findRoot) },
  ],
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
  versions: [
    { since: 23, find: findUserZero },
    { since: 35, find: exceptOwnUsers(findUserZero) },
  ],
};
