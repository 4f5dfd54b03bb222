import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, notSupported, required } from '../../../object/field-errors.ts';
import { strings } from '../../validation/values.ts';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** At least one mode, and the one of a single pod only by itself. */
export function validateAccessModes(spec: JsonObject, path: string, whyRequired = ''): FieldError[] {
  const modes = strings(spec, 'accessModes');
  const field = `${path}.accessModes`;
  if (modes.length === 0) return [required(field, whyRequired)];
  const known = modes.filter((mode) => ACCESS_MODES.includes(mode));
  const unknown = modes.filter((mode) => !ACCESS_MODES.includes(mode));
  const mixed =
    known.includes('ReadWriteOncePod') && known.some((mode) => mode !== 'ReadWriteOncePod')
      ? [forbiddenField(field, 'may not use ReadWriteOncePod with other access modes')]
      : [];
  return [...unknown.map((mode) => notSupported(field, mode, ACCESS_MODES)), ...mixed];
}
