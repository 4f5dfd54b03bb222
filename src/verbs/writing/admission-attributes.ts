import type { AdmissionAttributes, AdmissionOperation } from '../../admission/admission.ts';
import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { DeleteOptions } from './deletion.ts';
import type { WriteCall } from './write-call.ts';

/** A write as admission sees it. `object` is absent for a delete, `old` for a create. */
export function toAttributes(
  call: WriteCall,
  operation: AdmissionOperation,
  object: ApiObject | undefined,
  old: ApiObject | undefined,
): AdmissionAttributes {
  const { definition, version, subresource, dryRun, foreseen, author, caller, request } = call;
  return {
    operation,
    definition,
    version,
    subresource,
    namespace: definition.namespaced ? call.namespace : '',
    name: (object ?? old)?.metadata.name ?? '',
    object,
    old,
    dryRun,
    // A real write decides by the stored objects.
    ...(dryRun && foreseen !== undefined ? { foreseen } : {}),
    user: author.user,
    ...(request?.verb === undefined ? {} : { verb: request.verb }),
    ...(caller === undefined ? {} : { caller }),
    warn: (text) => request?.warn(text),
    annotate: (key, value, level) => request?.audit?.annotate(key, value, level),
    waits: request?.waits,
    options: () => toOperationOptions(request?.query, operation === 'CREATE' ? 'CREATE' : 'UPDATE'),
  };
}

export function toDeleteAttributes(
  call: WriteCall,
  old: ApiObject,
  options: DeleteOptions,
): AdmissionAttributes {
  return {
    ...toAttributes(call, 'DELETE', undefined, old),
    ...(call.isOfCollection === true ? { name: '' } : {}),
    options: () => toDeleteOptionsObject(options),
  };
}

const API_VERSION = 'meta.k8s.io/v1';

/** Options of a patch are those of its create or update (Kubernetes: endpoints/handlers/patch.go). */
function toOperationOptions(query: URLSearchParams | undefined, operation: 'CREATE' | 'UPDATE'): JsonObject {
  const dryRun = query?.getAll('dryRun').filter((value) => value !== '') ?? [];
  const fieldManager = query?.get('fieldManager') ?? '';
  const fieldValidation = query?.get('fieldValidation') ?? '';
  return {
    kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions',
    apiVersion: API_VERSION,
    ...(dryRun.length === 0 ? {} : { dryRun }),
    ...(fieldManager === '' ? {} : { fieldManager }),
    ...(fieldValidation === '' ? {} : { fieldValidation }),
  };
}

function toDeleteOptionsObject(options: DeleteOptions): JsonObject {
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun } = options;
  return {
    kind: 'DeleteOptions',
    apiVersion: API_VERSION,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions: { ...preconditions } }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(dryRun ? { dryRun: ['All'] } : {}),
  };
}
