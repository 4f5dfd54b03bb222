import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { duplicate, invalidValue, notSupported } from '../../object/field-errors.ts';
import { parts, text } from '../../object/parts.ts';
import { optionalText } from '../validation/optional-text.ts';
import { each, strings } from '../validation/values.ts';

const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];
const MIN_EXPIRATION_SECONDS = 600;
const MAX_EXPIRATION_SECONDS = 2 ** 32;

export function validateCsiDriverSpec(spec: JsonObject, path: string): FieldError[] {
  const policy = optionalText(spec, 'fsGroupPolicy');
  return [
    ...(policy === undefined || FS_GROUP_POLICIES.includes(policy)
      ? []
      : [notSupported(`${path}.fsGroupPolicy`, policy, FS_GROUP_POLICIES)]),
    ...validateTokenRequests(parts(spec, 'tokenRequests'), `${path}.tokenRequests`),
    ...strings(spec, 'volumeLifecycleModes')
      .filter((mode) => !LIFECYCLE_MODES.includes(mode))
      .map((mode) => notSupported(`${path}.volumeLifecycleModes`, mode, LIFECYCLE_MODES)),
  ];
}

/** One token an audience; the empty one is that of the API server itself. */
function validateTokenRequests(requests: readonly JsonObject[], path: string): FieldError[] {
  const audiences = new Set<string>();
  return each(requests, path, (request, at) => {
    const audience = text(request.audience);
    if (audiences.has(audience)) return [duplicate(`${at}.audience`, audience)];
    audiences.add(audience);
    return validateExpiration(request.expirationSeconds, `${at}.expirationSeconds`);
  });
}

function validateExpiration(seconds: unknown, path: string): FieldError[] {
  if (typeof seconds !== 'number') return [];
  if (seconds < MIN_EXPIRATION_SECONDS) {
    return [invalidValue(path, seconds, 'may not specify a duration less than 10 minutes')];
  }
  return seconds > MAX_EXPIRATION_SECONDS
    ? [invalidValue(path, seconds, 'may not specify a duration larger than 2^32 seconds')]
    : [];
}
