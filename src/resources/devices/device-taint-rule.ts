import { minorOf } from '../../api/feature-gates.ts';
import type { DeviceTaintRule, DeviceTaintSelector } from '../../api/types/resource/v1alpha3.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustBeConditions } from '../rules/condition-rules.ts';
import { mustBeName } from '../rules/name-rules.ts';
import { validateDeviceSelectors } from './device-configuration.ts';
import { mustBeDriverName, mustBePoolName } from './device-names.ts';
import { compilingSelectors, type SelectorList } from './device-selectors.ts';
import { hasAtMost } from './list-limits.ts';
import { setTaintDefaults, validateTaint } from './taints.ts';

/** Taints that administrators give to devices of any driver. */
export const devicetaintrules = define<DeviceTaintRule>({
  group: 'resource.k8s.io',
  resource: 'devicetaintrules',
  kind: 'DeviceTaintRule',
  namespaced: false,
  versions: [
    { version: 'v1beta2', type: 'resource/v1beta2.DeviceTaintRule', enabledByDefault: false, since: 36 },
    { version: 'v1alpha3', type: 'resource/v1alpha3.DeviceTaintRule', enabledByDefault: false, since: 33 },
  ],
  storedVersion: 'v1alpha3',
  emptyStatus: {},
  statusSince: 35,
  statusResets: [['spec'], ['metadata']],
  validateStatus: checkedUpdate(validateStatus),
  table: {
    columns: [nameColumn(), column('Age')],
    cells: (rule, now) => [rule.metadata.name ?? '', age(rule, now)],
  },
  strategy: {
    tracksGeneration: true,
    returnsDeletedObject: true,
    defaults: ({ spec }) => setTaintDefaults(spec?.taint === undefined ? [] : [spec.taint]),
    prepareForCreate: (rule, _user, isOn) => {
      if (minorOf(isOn) < 35) delete rule.status;
      else rule.status = {};
    },
    prepareForUpdate: renewTime,
    validate: checked(validate),
    validateInSteps: compilingSelectors(validate, newSelectors),
  },
});

/** The time is since when the taint has its effect: a new effect begins a new time, unless the author gives another one. */
function renewTime({ spec }: DeviceTaintRule, old: DeviceTaintRule): void {
  const taint = spec?.taint;
  const before = old.spec?.taint;
  if (taint === undefined || taint.effect === before?.effect || taint.timeAdded !== before?.timeAdded) return;
  delete taint.timeAdded;
  setTaintDefaults([taint]);
}

function newSelectors(root: FieldPath, { spec }: DeviceTaintRule, old?: DeviceTaintRule): SelectorList[] {
  const selectors = spec?.deviceSelector?.selectors;
  const path = root.field('spec').field('deviceSelector').field('selectors');
  return equal(selectors, old?.spec?.deviceSelector?.selectors) ? [] : [[path, selectors]];
}

function validate(root: FieldPath, { spec = {} }: DeviceTaintRule, old?: DeviceTaintRule): void {
  const at = root.field('spec');
  if (spec.deviceSelector !== undefined)
    validateSelector(at.field('deviceSelector'), spec.deviceSelector, old?.spec?.deviceSelector);
  validateTaint(at.field('taint'), spec.taint ?? {});
}

/** Classes and expressions until 1.34. */
function validateSelector(at: FieldPath, selector: DeviceTaintSelector, old?: DeviceTaintSelector): void {
  const { deviceClassName, driver, pool, device, selectors = [] } = selector;
  if (deviceClassName !== undefined)
    mustBeName(at.field('deviceClassName'), deviceClassName, 'dns-subdomain');
  if (driver !== undefined) mustBeDriverName(at.field('driver'), driver);
  if (pool !== undefined) mustBePoolName(at.field('pool'), pool);
  if (device !== undefined) mustBeName(at.field('device'), device, 'dns-label');
  validateDeviceSelectors(at.field('selectors'), selectors, equal(selectors, old?.selectors));
}

const MAX_CONDITIONS = 8;

function validateStatus(root: FieldPath, { status = {} }: DeviceTaintRule): void {
  const at = root.field('status').field('conditions');
  mustBeConditions(at, status.conditions);
  hasAtMost(at, MAX_CONDITIONS, status.conditions ?? []);
}
