import type { AdmissionAttributes, AdmissionOperation } from '../../admission/admission.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { WriteContext } from './change.ts';
import { toOperationOptions } from './operation-options.ts';

/** A write as admission sees it. `object` is absent for a delete, `old` for a create. */
export function toAttributes(
  context: WriteContext,
  operation: AdmissionOperation,
  object: ApiObject | undefined,
  old: ApiObject | undefined,
): AdmissionAttributes {
  const { definition, version, subresource, dryRun, user, caller } = context;
  return {
    operation,
    definition,
    version,
    subresource,
    namespace: definition.namespaced ? context.namespace : '',
    name: (object ?? old)?.metadata.name ?? '',
    object,
    old,
    dryRun,
    user,
    ...(caller === undefined ? {} : { caller }),
    warn: (text) => context.warn(text),
    annotate: (key, value) => context.annotate(key, value),
    options: () => toOperationOptions(context.query, operation === 'CREATE' ? 'CREATE' : 'UPDATE'),
  };
}
