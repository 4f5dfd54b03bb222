import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { forbiddenField, invalidValue, required, tooLong } from '../../object/field-errors.ts';
import { part, text } from '../../object/parts.ts';
import { optionalText } from '../validation/optional-text.ts';
import { validateName } from '../validation/values.ts';
import { sizeOfEntries } from './validation/class-parameters.ts';
import { validateDriverName } from './validation/csi-names.ts';
import { validateInlineVolumeSpec } from './validation/volume-spec.ts';

const MAX_METADATA_BYTES = 256 * 1024;
const MAX_MESSAGE_BYTES = 1024;

export function validateAttachment(attachment: ApiObject): FieldError[] {
  const spec = part(attachment, 'spec');
  return [
    ...validateDriverName(text(spec.attacher), 'spec.attacher'),
    ...validateSource(part(spec, 'source'), 'spec.source'),
    ...validateName('spec.nodeName', text(spec.nodeName), 'dns-subdomain'),
    ...validateStatus(part(attachment, 'status'), 'status'),
  ];
}

function validateSource(source: JsonObject, path: string): FieldError[] {
  const name = optionalText(source, 'persistentVolumeName');
  const inline = source.inlineVolumeSpec !== undefined;
  const one = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (name === undefined) {
    return inline
      ? validateInlineVolumeSpec(part(source, 'inlineVolumeSpec'), `${path}.inlineVolumeSpec`)
      : [required(path, one)];
  }
  const named = `${path}.persistentVolumeName`;
  return [
    ...(inline ? [forbiddenField(path, one)] : []),
    ...(name === '' ? [required(named, 'must specify non empty persistentVolumeName')] : []),
    ...validateName(named, name, 'dns-subdomain'),
  ];
}

function validateStatus(status: JsonObject, path: string): FieldError[] {
  const errors = ['attachError', 'detachError']
    .filter((field) => Buffer.byteLength(text(part(status, field).message)) > MAX_MESSAGE_BYTES)
    // The limit Kubernetes names is not the one it applies.
    .map((field) => tooLong(`${path}.${field}.message`, MAX_METADATA_BYTES));
  return sizeOfEntries(part(status, 'attachmentMetadata')) > MAX_METADATA_BYTES
    ? [tooLong(`${path}.attachmentMetadata`, MAX_METADATA_BYTES), ...errors]
    : errors;
}

export function validateAttachmentUpdate(attachment: ApiObject, old: ApiObject): FieldError[] {
  return equal(attachment.spec, old.spec)
    ? []
    : [invalidValue('spec', attachment.spec, 'field is immutable')];
}
