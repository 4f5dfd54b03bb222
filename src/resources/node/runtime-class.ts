import type { Toleration } from '../../api/types/core/v1.ts';
import type { RuntimeClass } from '../../api/types/node/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { deprecatedLabel } from '../pod/placement-warnings.ts';
import { validateOverhead } from '../pod/validation/container-resources.ts';
import { validateTolerations } from '../pod/validation/placement.ts';
import { checked } from '../rules/checked.ts';
import { goToleration } from '../rules/go-structs.ts';
import { mustBeLabels } from '../rules/labels.ts';
import { mustBeName } from '../rules/name-rules.ts';

export const runtimeclasses = define<RuntimeClass>({
  group: 'node.k8s.io',
  resource: 'runtimeclasses',
  kind: 'RuntimeClass',
  namespaced: false,
  versions: [{ version: 'v1', type: 'node/v1.RuntimeClass' }],
  table: {
    columns: [nameColumn(), column('Handler'), column('Age')],
    cells: (runtime, now) => [runtime.metadata.name ?? '', runtime.handler ?? '', age(runtime, now)],
  },
  strategy: {
    finalizersNeedDomains: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    validate: checked(validate),
    warnings: ({ scheduling: { nodeSelector = {} } = {} }) =>
      Object.keys(nodeSelector).flatMap((label) => {
        const why = deprecatedLabel(label);
        return why === undefined ? [] : [`scheduling.nodeSelector: ${why}`];
      }),
  },
});

function validate(at: FieldPath, { handler = '', overhead = {}, scheduling = {} }: RuntimeClass): void {
  mustBeName(at.field('handler'), handler, 'dns-label');
  validateOverhead(at.field('overhead'), overhead.podFixed ?? {});
  const path = at.field('scheduling');
  const { nodeSelector, tolerations = [] } = scheduling;
  mustBeLabels(path.field('nodeSelector'), nodeSelector);
  validateTolerations(path.field('tolerations'), tolerations);
  mustBeDistinct(path.field('tolerations'), tolerations);
}

/** How long a taint is tolerated does not make a toleration another one. */
function mustBeDistinct(at: FieldPath, tolerations: readonly Toleration[]): void {
  const seen = new Set<string>();
  for (const [path, toleration] of at.each(tolerations)) {
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) path.duplicate(goToleration(toleration));
    seen.add(identity);
  }
}
