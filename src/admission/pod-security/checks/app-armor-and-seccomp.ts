import { goQuote } from '../../../object/go-value.ts';
import {
  type Check,
  type CheckedPod,
  exceptWindows,
  type FindViolation,
  named,
  namesOf,
  plural,
  quoted,
  type SharedContext,
  settersOf,
  sorted,
  type Violation,
} from '../pod-check.ts';

/** The annotations that named profiles before 1.30, and still may. */
const ANNOTATION_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';

const isAllowedAppArmor = (profile: string): boolean =>
  profile === '' || profile === 'runtime/default' || profile.startsWith('localhost/');

/** The forbidden type of profile in a securityContext; undefined for none. */
function badTypeIn({ appArmorProfile }: SharedContext): string | undefined {
  if (appArmorProfile === undefined) return undefined;
  const { type = '' } = appArmorProfile;
  return type === 'RuntimeDefault' || type === 'Localhost' ? undefined : type;
}

const find: FindViolation = ({ context, containers, annotations }) => {
  const bad = containers.filter((container) => badTypeIn(container.context) !== undefined);
  const types = [badTypeIn(context), ...bad.map((container) => badTypeIn(container.context))];
  const annotated = Object.entries(annotations)
    .filter(([key, profile]) => key.startsWith(ANNOTATION_PREFIX) && !isAllowedAppArmor(profile))
    .map(([key, profile]) => `${key}=${goQuote(profile)}`)
    .sort();
  const setters = [
    settersOf(types[0] !== undefined, bad),
    annotated.length === 0 ? '' : plural('annotation', annotated.length),
  ].filter((setter) => setter !== '');
  if (setters.length === 0) return undefined;
  const values = [...sorted(types.filter((type) => type !== undefined)), ...annotated];
  return {
    reason: plural('forbidden AppArmor profile', values.length),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  };
};

/** A container may choose a profile of its node, but must have one. */
export const appArmorProfile: Check = {
  id: 'appArmorProfile',
  level: 'baseline',
  versions: [{ since: 0, find }],
};

/** Annotations named the profiles before 1.19. */
const POD_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod';
const CONTAINER_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';

const isAllowedSeccomp = (profile: string): boolean =>
  profile === 'runtime/default' || profile === 'docker/default' || profile.startsWith('localhost/');

const findAnnotations: FindViolation = ({ annotations, containers }) => {
  const keys = [POD_ANNOTATION, ...containers.map(({ name }) => `${CONTAINER_PREFIX}${name}`)];
  const forbidden = sorted(
    keys.flatMap((key) => {
      const profile = annotations[key];
      const isGood = profile === undefined || isAllowedSeccomp(profile);
      return isGood ? [] : [`${key}=${goQuote(profile)}`];
    }),
  );
  if (forbidden.length === 0) return undefined;
  const what = plural('annotation', forbidden.length);
  return { reason: 'seccompProfile', detail: `forbidden ${what} ${forbidden.join(', ')}` };
};

/** The type of profile in a securityContext; undefined for none. */
const typeIn = ({ seccompProfile }: SharedContext): string | undefined =>
  seccompProfile && (seccompProfile.type ?? '');

const isBad = (type: string | undefined): type is string =>
  type !== undefined && type !== 'RuntimeDefault' && type !== 'Localhost';

const findFields: FindViolation = ({ context, containers }) => {
  const bad = containers.filter((container) => isBad(typeIn(container.context)));
  const setters = settersOf(isBad(typeIn(context)), bad);
  if (setters === '') return undefined;
  const types = [typeIn(context), ...bad.map((container) => typeIn(container.context))];
  const values = quoted(sorted(types.filter(isBad)));
  const detail = `${setters} must not set securityContext.seccompProfile.type to ${values}`;
  return { reason: 'seccompProfile', detail };
};

export const seccompBaseline: Check = {
  id: 'seccompProfile_baseline',
  level: 'baseline',
  versions: [
    { since: 0, find: findAnnotations },
    { since: 19, find: findFields },
  ],
};

const findUnsaid: FindViolation = (pod) => findFields(pod) ?? findMissing(pod);

function findMissing({ context, containers }: CheckedPod): Violation | undefined {
  if (typeIn(context) !== undefined) return undefined;
  const silent = containers.filter((container) => typeIn(container.context) === undefined);
  if (silent.length === 0) return undefined;
  const who = named('container', namesOf(silent));
  return {
    reason: 'seccompProfile',
    detail: `pod or ${who} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
}

const overrides = [seccompBaseline.id];

/** The pod or each container must ask for a profile. */
export const seccompRestricted: Check = {
  id: 'seccompProfile_restricted',
  level: 'restricted',
  versions: [
    { since: 19, find: findUnsaid, overrides },
    { since: 25, find: exceptWindows(findUnsaid), overrides },
  ],
};

const TYPES_1_0: ReadonlySet<string> = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t']);
const TYPES_1_31: ReadonlySet<string> = new Set([...TYPES_1_0, 'container_engine_t']);

interface Options {
  readonly type: string;
  readonly user: string;
  readonly role: string;
}

function optionsOf({ seLinuxOptions = {} }: SharedContext): Options {
  const { type = '', user = '', role = '' } = seLinuxOptions;
  return { type, user, role };
}

const findBeyond =
  (types: ReadonlySet<string>): FindViolation =>
  ({ context, containers }) => {
    const isBad = (options: Options): boolean =>
      !types.has(options.type) || options.user !== '' || options.role !== '';
    const own = optionsOf(context);
    const bad = containers.filter((container) => isBad(optionsOf(container.context)));
    const setters = settersOf(isBad(own), bad);
    if (setters === '') return undefined;
    const all = [own, ...bad.map((container) => optionsOf(container.context))];
    const badTypes = sorted(all.map(({ type }) => type).filter((type) => !types.has(type)));
    const what = [
      ...(badTypes.length === 0 ? [] : [named('type', badTypes)]),
      ...(all.some(({ user }) => user !== '') ? ['user may not be set'] : []),
      ...(all.some(({ role }) => role !== '') ? ['role may not be set'] : []),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${setters} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`,
    };
  };

/** Only types for containers are allowed, and no choice of user or role. */
export const seLinuxOptions: Check = {
  id: 'seLinuxOptions',
  level: 'baseline',
  versions: [
    { since: 0, find: findBeyond(TYPES_1_0) },
    { since: 31, find: findBeyond(TYPES_1_31) },
  ],
};
