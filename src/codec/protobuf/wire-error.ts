/**
 * What the reader threw, as Go's generated readers say it: its own words are of this program's parts, and tell a client
 * nothing.
 */
export function wireError(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : '';
  const wireType = /^invalid wire type (\d)/.exec(text)?.[1];
  if (wireType === '4') return 'proto: wiretype end group for non-group';
  if (wireType !== undefined) return `proto: illegal wireType ${wireType}`;
  if (text.startsWith('invalid varint')) return 'proto: integer overflow';
  return cause instanceof RangeError && text.startsWith('index out of range')
    ? 'unexpected EOF'
    : 'proto: a field holds a value that is none of its type';
}
