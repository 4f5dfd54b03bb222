import type { TypeLibrary } from '../../api/idl/types.ts';
import { toApiVersion } from '../../api/names.ts';
import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { decodeObject } from '../../codec/decode.ts';
import { applyInSteps } from '../../object/managed-fields/server-side-apply.ts';
import { toSeen, toStorage } from '../../registry/conversion.ts';
import type { Registry } from '../../registry/registry.ts';
import { inTurns } from '../../util/turns.ts';
import type { WriteCall } from '../writing/write-call.ts';
import type { ObjectWriter } from '../writing/writer.ts';

interface ApplyParts {
  readonly registry: Registry;
  readonly writer: ObjectWriter;
  readonly types: TypeLibrary;
}

/** Returns a change that applies these fields of a built-in resource, and takes them from their other owners. */
export function toConfigChange(
  { registry, writer, types }: ApplyParts,
  call: WriteCall,
  name: string,
  fields: JsonObject,
): (copy: ApiObject) => Promise<ApiObject> {
  const { definition, version } = call;
  const { group, kind, resource } = definition;
  const served = registry.find(group, version, resource);
  const config = { ...fields, kind, apiVersion: toApiVersion({ group, version }), metadata: { name } };
  return async (copy) => {
    const live = served === undefined ? copy : toSeen(copy, served);
    const steps = applyInSteps(live, config, writer.ownership.describe(call), { force: true });
    const applied = await inTurns(steps);
    const schema = types.message(served?.version.type ?? definition.storage.type);
    const complete = { ...applied, ...decodeObject(applied, schema).object };
    return served === undefined ? complete : toStorage(complete, served);
  };
}
