import { type Check, type CheckedContainer, exceptWindows, type FindViolation } from '../check.ts';
import { named, namesOf, quoted, sorted } from '../wording.ts';

/** What runtimes give containers anyway, without NET_RAW. */
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

/** Undefined: nobody adds what is not allowed. */
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

/** All are given up; the one that opens ports below 1024 may be taken again. */
export const capabilitiesRestricted: Check = {
  id: 'capabilities_restricted',
  level: 'restricted',
  versions: [
    { since: 22, find: findUnrestricted, overrides },
    { since: 25, find: exceptWindows(findUnrestricted), overrides },
  ],
};
