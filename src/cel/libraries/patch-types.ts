import type { Environment } from '@marcbachmann/cel-js';
import { type FindMessageType, MessageType } from '../messages.ts';

/** The namespace in `jsonpatch.escapeKey(…)`. */
class JsonPatches {}

const NAMESPACE = 'kubernetes.JSONPatches';

/** Functions for JSON patches (Kubernetes: cel/library, jsonpatch). */
export const registerPatches = (environment: Environment): Environment =>
  environment
    .registerType(NAMESPACE, { ctor: JsonPatches, fields: {} })
    .registerConstant('jsonpatch', NAMESPACE, new JsonPatches())
    .registerFunction(`${NAMESPACE}.escapeKey(string): string`, (_: JsonPatches, key: string) =>
      key.replaceAll('~', '~0').replaceAll('/', '~1'),
    );

const TEXT = { kind: 'simple', name: 'string' } as const;

/** The type of an apply configuration; those of its parts are `Object.spec`, `Object.spec.template` … */
export const OBJECT = 'Object';
export const JSON_PATCH = 'JSONPatch';

/** Types of patches (Kubernetes: cel/mutation, typeresolver). The fields of objects are not checked before they are applied. */
export const findPatchType: FindMessageType = (name) => {
  if (name === JSON_PATCH)
    return new MessageType(name, {
      op: TEXT,
      path: TEXT,
      from: TEXT,
      value: { kind: 'simple', name: 'dyn' },
    });
  return name === OBJECT || name.startsWith(`${OBJECT}.`) ? new MessageType(name) : undefined;
};
