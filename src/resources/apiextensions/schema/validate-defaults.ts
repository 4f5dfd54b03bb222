import type { JsonValue } from '../../../api/json.ts';
import { copyJson, equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { goAny } from '../../../object/go-value.ts';
import { isObject } from '../../../object/json-values.ts';
import { checksNumbers } from '../../../structural/number-formats.ts';
import { prune } from '../../../structural/prune.ts';
import {
  hasDefault,
  isEmbedded,
  itemsOf,
  propertiesOf,
  type Schema,
} from '../../../structural/schema-node.ts';
import { validateInSteps } from '../../../structural/validate-value.ts';
import type { Steps } from '../../../util/turns.ts';

/**
 * Defaults must be valid for their fields, and contain nothing that would be pruned. Takes structural schemas only. Other rules
 * refuse defaults under additionalProperties of metadata; those in allOf and the like are not structural.
 */
export function* validateDefaults(at: FieldPath, schema: Schema): Steps<void> {
  const defaults: Default[] = [];
  collect(at, schema, { isResource: true, isInMeta: false }, defaults);
  yield;
  for (const [index, [path, one, place]] of defaults.entries()) {
    if (index % DEFAULTS_IN_A_STEP === DEFAULTS_IN_A_STEP - 1) yield;
    yield* validateDefault(path, one, place);
  }
}

/** Half a millisecond's. */
const DEFAULTS_IN_A_STEP = 256;

/** The schema that has a default, and the path of the default. */
type Default = readonly [at: FieldPath, schema: Schema, place: Place];

interface Place {
  readonly isResource: boolean;
  readonly isInMeta: boolean;
}

function collect(at: FieldPath, schema: Schema, place: Place, found: Default[]): void {
  const isResource = place.isResource || isEmbedded(schema);
  const isInMeta = place.isInMeta && !isResource;
  if (hasDefault(schema)) found.push([at.field('default'), schema, { isResource, isInMeta }]);
  const items = itemsOf(schema);
  if (items !== undefined) collect(at.field('items'), items, { isResource: false, isInMeta }, found);
  for (const [path, name, property] of propertiesOf(at, schema)) {
    const isMeta = isResource && META.includes(name);
    collect(path, property, { isResource: false, isInMeta: isInMeta || isMeta }, found);
  }
}

const META = ['metadata', 'apiVersion', 'kind'];

function* validateDefault(at: FieldPath, schema: Schema, { isResource, isInMeta }: Place): Steps<void> {
  const { default: value = null } = schema;
  if (!isInMeta && holdsUnknown(value, schema, isResource))
    at.invalid(goAny(value), 'must not have unknown fields');
  if (isResource && !isInMeta) validateTypeMeta(at, value);
  at.add(
    yield* validateInSteps(value, schema, { root: at.toString(), checksNumbers: checksNumbers(at.isOn) }),
  );
}

/** An object inside an object is an object only with its kind. */
function validateTypeMeta(at: FieldPath, value: JsonValue): void {
  if (!isObject(value)) return;
  for (const name of ['apiVersion', 'kind']) {
    const given = value[name];
    if (given === undefined) at.field(name).required('must not be empty');
    else if (typeof given !== 'string') at.field(name).invalid(goAny(given), 'must be a string');
    else if (given === '') at.field(name).invalid(goAny(given), 'must not be empty');
  }
}

/** Whether anything in a value is not named by its schema. */
function holdsUnknown(value: JsonValue, schema: Schema, isResource: boolean): boolean {
  const pruned = { value: copyJson(value) };
  if (isResource && isObject(pruned.value)) prune(pruned.value, schema, { isResourceRoot: true });
  else prune(pruned, { properties: { value: schema } }, { isResourceRoot: false });
  return !equal(pruned.value, value);
}
