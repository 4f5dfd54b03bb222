export const OK = 'OK';

/** gRPC's names by number (google.golang.org/grpc/codes). */
const STATUS_CODES = [
  ...[OK, 'Canceled', 'Unknown', 'InvalidArgument', 'DeadlineExceeded', 'NotFound', 'AlreadyExists'],
  ...['PermissionDenied', 'ResourceExhausted', 'FailedPrecondition', 'Aborted', 'OutOfRange'],
  ...['Unimplemented', 'Internal', 'Unavailable', 'DataLoss', 'Unauthenticated'],
];

/** Returns the status of the failed call, or a word for other errors. */
export function statusOf(error: unknown): string {
  if (error === undefined || error === null) return OK;
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    const found = 'code' in one && typeof one.code === 'number' ? STATUS_CODES[one.code] : undefined;
    if (found !== undefined) return found;
  }
  return 'unknown-non-grpc';
}
