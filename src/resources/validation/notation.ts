import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { goList, goQuote, goStrings } from '../../object/go-value.ts';
import { part, parts, text } from '../../object/parts.ts';

export { goList, goStrings } from '../../object/go-value.ts';

/**
 * Values of messages that clients know by heart are written as Go writes them (fmt, `%#v`):
 *
 *   spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"web"}, …}: field is immutable
 */

/** `shown` is the value as the message has it. */
export const invalidShown = (field: string, shown: string, why: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  message: why === '' ? `Invalid value: ${shown}` : `Invalid value: ${shown}: ${why}`,
});

/** The value is too large to be shown, or none by itself. */
export const invalidUnshown = (field: string, why: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${why}`,
});

export const quote = (value: JsonValue | undefined): string => goQuote(text(value));

export function goLabelSelector(selector: JsonObject | undefined): string {
  if (selector === undefined) return 'null';
  const expressions = parts(selector, 'matchExpressions').map(
    ({ key, operator, values }) =>
      `v1.LabelSelectorRequirement{Key:${quote(key)}, Operator:${quote(operator)}, Values:${goList('string', values)}}`,
  );
  const list = expressions.length === 0 ? '(nil)' : `{${expressions.join(', ')}}`;
  const labels = selector.matchLabels === undefined ? undefined : part(selector, 'matchLabels');
  return `v1.LabelSelector{MatchLabels:${goStrings(labels)}, MatchExpressions:[]v1.LabelSelectorRequirement${list}}`;
}

export function goIntOrString(value: JsonValue | undefined): string {
  return typeof value === 'string'
    ? `intstr.IntOrString{Type:1, IntVal:0, StrVal:${goQuote(value)}}`
    : `intstr.IntOrString{Type:0, IntVal:${text(value, '0')}, StrVal:""}`;
}
