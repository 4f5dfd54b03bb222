import { text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { validateImmutableField } from '../validation/immutable.ts';
import { validateRuntimeClass } from './validate-runtime-class.ts';

export const runtimeclasses = define({
  group: 'node.k8s.io',
  resource: 'runtimeclasses',
  kind: 'RuntimeClass',
  namespaced: false,
  versions: [{ version: 'v1', type: 'node/v1.RuntimeClass' }],
  table: {
    columns: [nameColumn(), column('Handler'), column('Age')],
    cells: (runtime, now) => [runtime.metadata.name ?? '', text(runtime.handler), age(runtime, now)],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    validate: validateRuntimeClass,
    validateUpdate: (runtime, old) => validateImmutableField('handler', runtime.handler, old.handler),
  },
});
