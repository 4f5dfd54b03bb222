import type { MessageSchema } from '../api/schema.ts';
import type { Authenticator } from '../authn/authenticator.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Logger } from '../observability/logger.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { ResourceHandler } from '../verbs/verbs.ts';
import { answerErrors } from './answer-errors.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { withDeadline } from './deadline.ts';
import { type DocumentHandler, dispatch } from './dispatch.ts';
import { logRequest } from './log-request.ts';
import { type MeasureOptions, measure } from './measure.ts';
import { traceRequest, traceVerb } from './trace.ts';

export interface PipelineOptions extends MeasureOptions {
  readonly authenticator: Authenticator;
  /** --anonymous-auth */
  readonly anonymous: boolean;
  readonly authorizer: Authorizer;
  /** Discovery, OpenAPI, version. */
  readonly documents: DocumentHandler;
  readonly resources: ResourceHandler;
  /** meta/v1 Status, for clients that read protobuf. */
  readonly statusSchema: MessageSchema;
  readonly logger: Logger;
  readonly tracing: Tracing;
  readonly requestTimeoutMs: number;
}

/** Never rejects: whatever goes wrong becomes a Status. */
export type Pipeline = (request: ApiRequest) => Promise<ApiResponse>;

/**
 * What a request passes, from the outermost stage to the verb. A stage that needs to see the answer too takes the rest of
 * the way as a function.
 */
export function createPipeline(options: PipelineOptions): Pipeline {
  return (request) =>
    measure(options, request, () =>
      logRequest(options, request, () =>
        traceRequest(options, request, () =>
          answerErrors(options, request, () =>
            withDeadline(options, request, async () => {
              const authenticated = await authenticate(options, request);
              const authorized = await authorize(options, authenticated);
              return traceVerb(options, request, () => dispatch(options, authorized));
            }),
          ),
        ),
      ),
    );
}
