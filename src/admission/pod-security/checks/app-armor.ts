import { goQuote } from '../../../object/go-value.ts';
import type { Check, FindViolation, SharedContext } from '../check.ts';
import { plural, quoted, settersOf, sorted } from '../wording.ts';

/** Where profiles were named before 1.30, and still may be. */
const ANNOTATION_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';

const isAllowedAnnotation = (profile: string): boolean =>
  profile === '' || profile === 'runtime/default' || profile.startsWith('localhost/');

/** The type of profile that a securityContext wants and must not; undefined: it wants none, or may. */
function badTypeIn({ appArmorProfile }: SharedContext): string | undefined {
  if (appArmorProfile === undefined) return undefined;
  const { type = '' } = appArmorProfile;
  return type === 'RuntimeDefault' || type === 'Localhost' ? undefined : type;
}

const find: FindViolation = ({ context, containers, annotations }) => {
  const bad = containers.filter((container) => badTypeIn(container.context) !== undefined);
  const types = [badTypeIn(context), ...bad.map((container) => badTypeIn(container.context))];
  const annotated = Object.entries(annotations)
    .filter(([key, profile]) => key.startsWith(ANNOTATION_PREFIX) && !isAllowedAnnotation(profile))
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

/** A container may choose a profile of its node, but not go without one. */
export const appArmorProfile: Check = {
  id: 'appArmorProfile',
  level: 'baseline',
  versions: [{ since: 0, find }],
};
