import type { JsonObject, JsonValue } from '../../../api/json.ts';
import { isObject, stringOf } from '../../../object/json-values.ts';
import { isOfKubernetes } from '../authors.ts';
import { cause, type PastWrite, type Rule } from '../past.ts';
import { asksDeletion, changesWanted, nameOf, specOf, stateOf } from '../states.ts';
import { newestOf } from './reading.ts';

/** How many writes of the author to search for an object that it may have acted for. */
const LOOKED_AT = 50;
/** References are not far down in a spec. */
const DEPTH = 6;

/**
 * An operator changes what it does not own because an object of its own refers to it, like an autoscaler to its target. It writes
 * the status of that object about the same time.
 */
export const namedByAnother: Rule = async (effect, past) => {
  if (isOfKubernetes(effect) || effect.verb === 'create') return undefined;
  if (!changesWanted(effect) && !asksDeletion(effect)) return undefined;
  let looked = 0;
  for await (const write of past.ofAuthor(effect.user, effect.key.namespace, { before: effect.revision })) {
    looked += 1;
    if (looked > LOOKED_AT) return undefined;
    if (write.uid === effect.uid || !refersTo(specOf(stateOf(write)), effect)) continue;
    const newest = await newestOf(
      past.ofName(write.key, { before: effect.revision }),
      ({ uid }) => uid === write.uid,
    );
    const evidence = `${nameOf(write)} refers to it, and the same author wrote to that by revision ${write.revision}.`;
    return cause(newest ?? write, 'possible', evidence);
  }
  return undefined;
};

/** Whether a field named like a reference has the name of the object, and its kind if it has one. */
function refersTo(spec: JsonObject, effect: PastWrite, depth = DEPTH): boolean {
  const kind = stringOf(stateOf(effect)?.kind);
  return Object.entries(spec).some(([field, value]) => {
    if (!isObject(value))
      return depth > 0 && objectsIn(value).some((item) => refersTo(item, effect, depth - 1));
    if (/(ref|reference|target)$/i.test(field) && value.name === effect.key.name)
      return value.kind === undefined || value.kind === kind;
    return depth > 0 && refersTo(value, effect, depth - 1);
  });
}

const objectsIn = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
