import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { Change } from '../api/types/history/v1alpha1.ts';
import { isObject } from '../object/json-values.ts';
import { isEncrypted } from '../storage/encryption/media-type.ts';
import type { LoggedRevision } from '../storage/history.ts';
import { type FieldChange, withoutBookkeeping } from './changes.ts';
import { fieldPath, isWithin } from './field-paths.ts';
import type { ReadRights } from './read-rights.ts';

/** Which values of a row are hidden. */
type Secrecy = 'none' | 'secret' | 'all';

/** Shows values of Secrets, and of everything encrypted at rest, only to clients that may get the object now. */
export async function secrecyOf(
  row: Pick<LoggedRevision, 'key' | 'revision' | 'storedAs' | 'previousStoredAs'>,
  rights: ReadRights,
): Promise<Secrecy> {
  const { key, storedAs, previousStoredAs } = row;
  const isSecret = key.group === '' && key.resource === 'secrets';
  const isSealed = [storedAs, previousStoredAs].some((type) => type !== undefined && isEncrypted(type));
  if ((!isSecret && !isSealed) || (await rights.mayGet(row))) return 'none';
  return isSealed ? 'all' : 'secret';
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const SECRET_PATHS = [
  'data',
  'stringData',
  fieldPath(fieldPath(fieldPath('', 'metadata'), 'annotations'), LAST_APPLIED),
];

export const isSecretPath = (path: string): boolean => SECRET_PATHS.some((secret) => isWithin(path, secret));

export function toMaskedChange({ path, old, new: value }: FieldChange, secrecy: Secrecy): Change {
  if (secrecy === 'none') return { path, ...valuesOf({ old, new: value }) };
  if (secrecy === 'all' || isSecretPath(path)) return { path, hidden: true };
  const shown = { old: withoutSecrets(path, old), new: withoutSecrets(path, value) };
  const isCut = shown.old !== old || shown.new !== value;
  return { path, ...valuesOf(shown), ...(isCut ? { hidden: true } : {}) };
}

const valuesOf = (values: {
  readonly old: JsonValue | undefined;
  readonly new: JsonValue | undefined;
}): Pick<Change, 'old' | 'new'> => ({
  ...(values.old === undefined ? {} : { old: values.old }),
  ...(values.new === undefined ? {} : { new: values.new }),
});

/** Hides secret values; returns any other value as it is. */
function withoutSecrets(path: string, value: JsonValue | undefined): JsonValue | undefined {
  if (!isObject(value)) return value;
  if (path === '') {
    const { data: _, stringData: __, ...rest } = withoutBookkeeping(value);
    const metadata = withoutSecrets('metadata', rest.metadata);
    return metadata === undefined ? rest : { ...rest, metadata };
  }
  if (path === 'metadata') {
    const annotations = withoutSecrets('metadata.annotations', value.annotations);
    return annotations === value.annotations ? value : ({ ...value, annotations } as JsonObject);
  }
  if (path !== 'metadata.annotations' || value[LAST_APPLIED] === undefined) return value;
  const { [LAST_APPLIED]: _, ...rest } = value;
  return rest;
}
