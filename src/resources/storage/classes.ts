import type { JsonValue, ObjectMeta } from '../../api/object-meta.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';

/** Classes of volumes and of their attributes: both name a driver and its parameters, and one of each is the default. */

type Texts = Readonly<Record<string, string>>;

/** The name of a class, marked when one of the annotations makes it the default. */
export function nameCell(
  { name = '', annotations }: ObjectMeta,
  defaultAnnotations: readonly string[],
): string {
  const isDefault = defaultAnnotations.some((annotation) => annotations?.[annotation] === 'true');
  return isDefault ? `${name} (default)` : name;
}

/** `kubernetes.io/aws-ebs`, `CSI.example.com` */
export function mustBeProvisioner(at: FieldPath, provisioner: string): void {
  const name = provisioner.toLowerCase();
  if (name === '') at.required();
  else at.invalidFor(name, checkQualifiedName(name));
}

const MAX_PARAMETERS = 512;
const MAX_PARAMETERS_BYTES = 256 * 1024;

export function validateParameters(at: FieldPath, parameters: Texts): void {
  if (Object.keys(parameters).length > MAX_PARAMETERS) {
    at.tooLong(MAX_PARAMETERS);
    return;
  }
  if (Object.hasOwn(parameters, '')) at.invalid('', 'field can not be empty.');
  if (byteLengthOf(parameters) > MAX_PARAMETERS_BYTES) at.tooLong(MAX_PARAMETERS_BYTES);
}

/** The total of all keys and values. */
export function byteLengthOf(texts: Texts): number {
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(texts))
    sizeBytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  return sizeBytes;
}

/** Volumes that exist were made by these values. */
export function mustKeepFields<Name extends string>(
  at: FieldPath,
  object: { readonly [name in Name]?: JsonValue },
  old: { readonly [name in Name]?: JsonValue },
  names: readonly Name[],
): void {
  for (const name of names)
    if (!equal(object[name], old[name])) at.field(name).forbidden(`updates to ${name} are forbidden.`);
}
