/** The forms that Go's strconv.ParseBool reads; undefined: it is none of them. */
export function parseGoBool(text: string): boolean | undefined {
  if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true;
  return /^(0|f|F|FALSE|false|False)$/.test(text) ? false : undefined;
}
