import { goQuote } from '../../../object/go-value.ts';
import {
  type Check,
  type CheckedPod,
  exceptWindows,
  type FindViolation,
  type SharedContext,
  type Violation,
} from '../check.ts';
import { named, namesOf, plural, quoted, settersOf, sorted } from '../wording.ts';

/** Before 1.19, annotations named the profiles. */
const POD_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod';
const CONTAINER_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';

const isAllowedAnnotation = (profile: string): boolean =>
  profile === 'runtime/default' || profile === 'docker/default' || profile.startsWith('localhost/');

const findAnnotations: FindViolation = ({ annotations, containers }) => {
  const keys = [POD_ANNOTATION, ...containers.map(({ name }) => `${CONTAINER_PREFIX}${name}`)];
  const forbidden = sorted(
    keys.flatMap((key) => {
      const profile = annotations[key];
      const isGood = profile === undefined || isAllowedAnnotation(profile);
      return isGood ? [] : [`${key}=${goQuote(profile)}`];
    }),
  );
  if (forbidden.length === 0) return undefined;
  const what = plural('annotation', forbidden.length);
  return { reason: 'seccompProfile', detail: `forbidden ${what} ${forbidden.join(', ')}` };
};

/** The type of profile that a securityContext asks for; undefined: it says nothing. */
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

/** A profile has to be asked for, by the pod or by each container. */
export const seccompRestricted: Check = {
  id: 'seccompProfile_restricted',
  level: 'restricted',
  versions: [
    { since: 19, find: findUnsaid, overrides },
    { since: 25, find: exceptWindows(findUnsaid), overrides },
  ],
};
