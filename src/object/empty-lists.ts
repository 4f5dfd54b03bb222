import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { type FieldSchema, type MessageSchema, messageIn } from '../api/schema.ts';
import { isObject } from './json-values.ts';

/**
 * Kubernetes stores objects as protobuf, which writes nothing for an empty list or map, and Go shows one that it then does not find
 * as null where the field is always written: `rules` of a role, `endpoints` of a slice. Elsewhere decoding has left it out before.
 * Managed fields are found earlier, and have the empty list.
 */
export function emptyToNull(object: JsonObject, schema: MessageSchema): void {
  for (const { name, becomesNull, message } of stepsOf(schema)) {
    const value = object[name];
    if (value === undefined || value === null) continue;
    if (becomesNull && isEmpty(value)) object[name] = null;
    else if (message !== undefined) below(value, message);
  }
}

function below(value: JsonValue, message: MessageSchema): void {
  if (Array.isArray(value)) for (const item of value) below(item, message);
  else if (isObject(value)) emptyToNull(value, message);
}

function isEmpty(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** A field on the way to a list that may become null. */
interface Step {
  readonly name: string;
  readonly becomesNull: boolean;
  /** Undefined: nothing below may become null. */
  readonly message: MessageSchema | undefined;
}

const known = new WeakMap<MessageSchema, readonly Step[]>();

/** Few fields of a type lead anywhere: a pod's volumes and no others. */
function stepsOf(schema: MessageSchema): readonly Step[] {
  let steps = known.get(schema);
  if (steps === undefined) {
    steps = [...schema.fields.values()]
      .map(toStep)
      .filter(({ becomesNull, message }) => becomesNull || message);
    known.set(schema, steps);
  }
  return steps;
}

function toStep(field: FieldSchema): Step {
  const message = fieldMessage(field);
  const leads = message !== undefined && leadsOn(message, new Set());
  return { name: field.name, becomesNull: becomesNull(field), message: leads ? message : undefined };
}

const becomesNull = ({ zero, number, value: { kind } }: FieldSchema): boolean =>
  zero === 'always' && number !== undefined && (kind === 'list' || kind === 'map');

/** Maps of messages are rare, and none leads on. */
const fieldMessage = ({ value }: FieldSchema): MessageSchema | undefined =>
  value.kind === 'message' || value.kind === 'list' ? messageIn(value) : undefined;

/** `seen`: types on the way here, because some hold themselves. */
function leadsOn(message: MessageSchema, seen: Set<MessageSchema>): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return [...message.fields.values()].some((field) => {
    const next = fieldMessage(field);
    return becomesNull(field) || (next !== undefined && leadsOn(next, seen));
  });
}
