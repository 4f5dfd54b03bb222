import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import { badRequest, internalError, StatusError, unknownError } from '../api/status.ts';
import type {
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
} from '../api/types/apiextensions/v1.ts';
import { withinInt64 } from '../object/exact-json.ts';
import type { FieldPath } from '../object/field-path.ts';
import { goPlain, goTypeOf } from '../object/go-value.ts';
import { isObject, numberOf, objectAt, setField } from '../object/json-values.ts';
import { statedBy } from '../object/metadata.ts';
import type { ViewSubresource } from '../registry/resource-definition.ts';
import { SCALE_COLUMNS } from './printer-columns.ts';

/** Marks replicas that were never set, to distinguish a patch that leaves them alone from one that sets 0. */
const UNSET = -(2 ** 31);

/**
 * Makes the Scale view of a version of a custom resource, from the paths in its definition (apiextensions-apiserver,
 * pkg/registry/customresource/etcd.go). Undefined: the version has none.
 */
export function toScale({ subresources }: CustomResourceDefinitionVersion): ViewSubresource | undefined {
  if (subresources?.scale === undefined) return undefined;
  const paths = toPaths(subresources.scale);
  const { specReplicasPath = '' } = subresources.scale;
  const missing = `the spec replicas field ${JSON.stringify(specReplicasPath)}`;
  return {
    access: 'view',
    name: 'scale',
    served: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    type: 'autoscaling/v1.Scale',
    verbs: ['get', 'patch', 'update'],
    table: SCALE_COLUMNS,
    warnings: 'parent',
    read: (parent) => {
      const { scale, hasReplicas } = readScale(parent, paths);
      if (!hasReplicas) throw internalError(`${missing} does not exist`);
      return scale;
    },
    readForChange: (parent) => {
      const { scale, hasReplicas } = readScale(parent, paths);
      return hasReplicas ? scale : { ...scale, spec: { replicas: UNSET } };
    },
    write: (scale, old) => {
      const replicas = numberOf(objectAt(scale, 'spec').replicas);
      if (replicas === UNSET) throw badRequest(`${missing} cannot be empty`);
      const metadata = { ...old.metadata, ...statedBy(scale.metadata) };
      return { ...withValueAt(old, paths.specReplicas, replicas), metadata };
    },
    toParent: (config) => {
      const { replicas } = objectAt(config, 'spec');
      return replicas === undefined ? {} : withValueAt({}, paths.specReplicas, replicas);
    },
  };
}

interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** Undefined: the definition has no selector path. */
  readonly labelSelector: readonly string[] | undefined;
}

const toPaths = ({
  specReplicasPath = '',
  statusReplicasPath = '',
  labelSelectorPath = '',
}: CustomResourceSubresourceScale): ScalePaths => ({
  specReplicas: toPath(specReplicasPath),
  statusReplicas: toPath(statusReplicasPath),
  labelSelector: labelSelectorPath === '' ? undefined : toPath(labelSelectorPath),
});

/** `.spec.replicas` → spec, replicas. Brackets have no meaning. */
const toPath = (jsonPath: string): string[] => jsonPath.replace(/^\./, '').split('.');

/** @throws StatusError 500 for a value of another type */
function readScale(
  parent: ApiObject,
  paths: ScalePaths,
): { readonly scale: ApiObject; readonly hasReplicas: boolean } {
  const { name, namespace, uid, resourceVersion, creationTimestamp = null } = parent.metadata;
  const wanted = integerAt(parent, paths.specReplicas);
  const replicas = integerAt(parent, paths.statusReplicas) ?? 0;
  const selector = paths.labelSelector === undefined ? '' : textAt(parent, paths.labelSelector);
  return {
    hasReplicas: wanted !== undefined,
    scale: {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: {
        ...(name === undefined ? {} : { name }),
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
        creationTimestamp,
      },
      // Go omits 0 here, but not in the status.
      spec: wanted === undefined || wanted === 0 ? {} : { replicas: wanted },
      status: { replicas, ...(selector === '' ? {} : { selector }) },
    },
  };
}

/** Truncates to int32: a larger integer loses its upper bits, as in Go. */
function integerAt(object: JsonObject, path: readonly string[]): number | undefined {
  const value = int64At(object, path);
  return value === undefined ? undefined : Number(BigInt.asIntN(32, BigInt(value)));
}

function int64At(object: JsonObject, path: readonly string[]): number | bigint | undefined {
  const value = valueAt(object, path);
  if (value === undefined) return undefined;
  const exact = withinInt64(value);
  if (typeof exact === 'bigint' || (typeof exact === 'number' && Number.isSafeInteger(exact))) return exact;
  throw wrongType(path, exact, 'int64');
}

function textAt(object: JsonObject, path: readonly string[]): string {
  const value = valueAt(object, path) ?? '';
  if (typeof value === 'string') return value;
  throw wrongType(path, value, 'string');
}

/** Undefined: no value. null has no parts. */
function valueAt(object: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue = object;
  for (const [at, name] of path.entries()) {
    if (value === null) return undefined;
    if (!isObject(value)) throw wrongType(path.slice(0, at + 1), value, 'map[string]interface{}');
    if (!Object.hasOwn(value, name)) return undefined;
    value = value[name] ?? null;
  }
  return value;
}

/** Most characters of a value in a message. */
const MAX_LETTERS = 1024;

const wrongType = (path: readonly string[], value: JsonValue, expected: string) =>
  unknownError(
    `.${path.join('.')} accessor error: ${goPlain(value, MAX_LETTERS)} is of the type ${goTypeOf(value)}, expected ${expected}`,
  );

/** Checks that a Scale can show the object's values (customresource/validator.go). */
export function validateScaleSpec(
  at: FieldPath,
  object: JsonObject,
  { specReplicasPath = '' }: CustomResourceSubresourceScale,
): void {
  mustBeReplicas(at.field(specReplicasPath), object, toPath(specReplicasPath));
}

export function validateScaleStatus(
  at: FieldPath,
  object: JsonObject,
  { statusReplicasPath = '', labelSelectorPath = '' }: CustomResourceSubresourceScale,
): void {
  mustBeReplicas(at.field(statusReplicasPath), object, toPath(statusReplicasPath));
  if (labelSelectorPath === '') return;
  refusalTo(() => textAt(object, toPath(labelSelectorPath)), at.field(labelSelectorPath), '');
}

function mustBeReplicas(at: FieldPath, object: JsonObject, path: readonly string[]): void {
  const replicas = refusalTo(() => int64At(object, path), at, 0) ?? 0;
  if (replicas < 0) at.invalid(replicas, 'should be a non-negative integer');
  else if (replicas > MAX_INT32) at.invalid(replicas, `should be less than or equal to ${MAX_INT32}`);
}

const MAX_INT32 = 2 ** 31 - 1;

/** Reports an unreadable value as an error of its field, with Go's zero value. */
function refusalTo<Value>(read: () => Value, at: FieldPath, zero: Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    at.invalid(zero, error.message);
    return zero;
  }
}

/** Returns a copy of the object with the value; copies or creates the objects along the path. */
function withValueAt<Parent extends JsonObject>(
  parent: Parent,
  path: readonly string[],
  value: JsonValue,
): Parent {
  const out = { ...parent };
  let inner: JsonObject = out;
  for (const [at, name] of path.entries()) {
    if (at === path.length - 1) {
      setField(inner, name, value);
      break;
    }
    const below = Object.hasOwn(inner, name) ? (inner[name] ?? null) : {};
    if (!isObject(below)) throw notAMap(path.slice(0, at + 1));
    const copy: JsonObject = { ...below };
    setField(inner, name, copy);
    inner = copy;
  }
  return out;
}

const notAMap = (path: readonly string[]) =>
  unknownError(`value cannot be set because .${path.join('.')} is not a map[string]interface{}`);
