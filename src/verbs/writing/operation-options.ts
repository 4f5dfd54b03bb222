import type { JsonObject } from '../../api/object-meta.ts';
import type { DeleteOptions } from './deletion.ts';

/** What a caller asked of an operation, as the objects of meta/v1 that admission shows to webhooks and policies. */

const API_VERSION = 'meta.k8s.io/v1';

/** A patch is the create or update that it turns out to be (Kubernetes: endpoints/handlers/patch.go). */
export function toOperationOptions(
  query: URLSearchParams | undefined,
  operation: 'CREATE' | 'UPDATE',
): JsonObject {
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

export function toDeleteOptionsObject(options: DeleteOptions): JsonObject {
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
