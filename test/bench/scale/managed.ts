/** What clients and controllers leave in objects: of each field, who owns it. */

type Fields = { [field: string]: Fields };

const UNOWNED = new Set([
  'kind',
  'apiVersion',
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'managedFields',
]);
const TIME = '2026-01-01T00:00:00Z';

/** The object with managedFields: one manager has its status, another the rest. */
export function managed(object: ManagedObject): object {
  const { metadata, status, ...rest } = object;
  const { apiVersion } = object;
  const entry = { operation: 'Update', apiVersion, time: TIME, fieldsType: 'FieldsV1' };
  const ofSpec = { manager: 'kube-controller-manager', ...entry, fieldsV1: fieldsOf({ metadata, ...rest }) };
  const ofStatus = { manager: 'kubelet', ...entry, fieldsV1: fieldsOf({ status }), subresource: 'status' };
  const managedFields = status === undefined ? [ofSpec] : [ofSpec, ofStatus];
  return { ...object, metadata: { ...metadata, managedFields } };
}

export interface ManagedObject {
  readonly apiVersion: string;
  readonly metadata: object;
  readonly status?: object;
}

function fieldsOf(value: unknown): Fields {
  if (Array.isArray(value)) return Object.fromEntries(value.flatMap(toElement));
  if (typeof value !== 'object' || value === null) return {};
  const owned = Object.entries(value).filter(([name]) => !UNOWNED.has(name));
  return Object.fromEntries(owned.map(([name, field]) => [`f:${name}`, fieldsOf(field)]));
}

/** Lists of objects are owned by element, all others as a whole. */
function toElement(element: unknown): [string, Fields][] {
  if (typeof element !== 'object' || element === null) return [];
  const [key] = Object.entries(element);
  if (key === undefined) return [];
  return [[`k:${JSON.stringify(Object.fromEntries([key]))}`, { '.': {}, ...fieldsOf(element) }]];
}
