import type { TypeLibrary } from '../../api/idl/types.ts';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { type FieldSchema, type MessageSchema, messageIn } from '../../api/schema.ts';
import { isObject, textOf } from '../../object/json-values.ts';

/**
 * kube-apiserver stores definitions of custom resources as apiextensions.k8s.io/v1beta1, which it has not served since 1.22: the form
 * says once what all versions have in common (apiextensions-apiserver, pkg/apis/apiextensions/v1beta1).
 */
const OLDER = 'apiextensions.k8s.io/v1beta1';

export const isOlderDefinition = ({ apiVersion, kind }: JsonObject): boolean =>
  apiVersion === OLDER && kind === 'CustomResourceDefinition';

/** The protobuf form, whose fields have the names and numbers of v1 but for these. */
export function olderDefinitionSchema(types: TypeLibrary): MessageSchema {
  const definition = types.message('apiextensions/v1.CustomResourceDefinition');
  const spec = part(definition, 'spec');
  const [version, conversion] = [part(spec, 'versions'), part(spec, 'conversion')];
  const webhook = part(conversion, 'webhook');
  const ofWebhook = [
    { ...fieldOf(webhook, 'clientConfig'), name: 'webhookClientConfig', number: 2 },
    { ...fieldOf(webhook, 'conversionReviewVersions'), number: 3 },
  ];
  const strategy = fieldOf(conversion, 'strategy');
  const older = withFields(spec, [
    { ...fieldOf(spec, 'group'), name: 'version', number: 2 },
    { ...fieldOf(version, 'schema'), name: 'validation', number: 5 },
    { ...fieldOf(version, 'subresources'), number: 6 },
    { ...fieldOf(version, 'additionalPrinterColumns'), number: 8 },
    { ...fieldOf(version, 'selectableFields'), number: 11 },
    {
      ...fieldOf(spec, 'conversion'),
      value: { kind: 'message', message: { ...conversion, fields: byName([strategy, ...ofWebhook]) } },
    },
  ]);
  return withFields(definition, [
    { ...fieldOf(definition, 'spec'), value: { kind: 'message', message: older } },
  ]);
}

/** As v1 has it: each version says all of itself. */
export function fromOlderDefinition(given: JsonObject): JsonObject {
  const { version, validation, conversion, preserveUnknownFields, versions, ...spec } = isObject(given.spec)
    ? given.spec
    : {};
  const { subresources, additionalPrinterColumns, selectableFields, ...kept } = spec;
  const common = withoutAbsent({
    ...{ schema: validation, subresources, additionalPrinterColumns, selectableFields },
  });
  const own = Array.isArray(versions) ? versions.filter(isObject) : [];
  const only = textOf(version) === '' ? [] : [{ name: textOf(version), served: true, storage: true }];
  return {
    ...given,
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: {
      ...kept,
      versions: (own.length > 0 ? own : only).map((one) => withColumns({ ...one, ...common })),
      ...(isObject(conversion) ? { conversion: toConversion(conversion) } : {}),
      // Absent, it is true there, and false in v1.
      ...(preserveUnknownFields === false ? {} : { preserveUnknownFields: true }),
    },
  };
}

function toConversion({ strategy, webhookClientConfig, conversionReviewVersions }: JsonObject): JsonObject {
  const webhook = withoutAbsent({ clientConfig: webhookClientConfig, conversionReviewVersions });
  return withoutAbsent({ strategy, webhook: Object.keys(webhook).length > 0 ? webhook : undefined });
}

/** In JSON, the path of a column was named JSONPath. */
function withColumns({ additionalPrinterColumns: columns, ...version }: JsonObject): JsonObject {
  if (!Array.isArray(columns)) return version;
  const renamed = columns
    .filter(isObject)
    .map(({ JSONPath, ...column }) => withoutAbsent({ jsonPath: JSONPath, ...column }));
  return { ...version, additionalPrinterColumns: renamed };
}

const withoutAbsent = (fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter(
      (one): one is [string, JsonValue] => one[1] !== undefined && one[1] !== null,
    ),
  );

const byName = (fields: readonly FieldSchema[]): ReadonlyMap<string, FieldSchema> =>
  new Map(fields.map((field) => [field.name, field]));

const withFields = (message: MessageSchema, fields: readonly FieldSchema[]): MessageSchema => ({
  ...message,
  fields: byName([...message.fields.values(), ...fields]),
});

/** @throws Error for a field that the types lack, which is a mistake in this program */
function fieldOf(message: MessageSchema, name: string): FieldSchema {
  const field = message.fields.get(name);
  if (field === undefined) throw new Error(`${message.name} has no field ${name}`);
  return field;
}

function part(message: MessageSchema, name: string): MessageSchema {
  const of = messageIn(fieldOf(message, name).value);
  if (of === undefined) throw new Error(`${message.name}.${name} is no message`);
  return of;
}
