import type { MessageSchema } from '../api/schema.ts';
import type { Authenticator } from '../authn/authenticator.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { FlowControl } from '../flow-control/flow-control.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { ResourceHandler } from '../verbs/verbs.ts';
import { answerErrors } from './answer-errors.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { type DocumentHandler, dispatch } from './dispatch.ts';
import { takeTurn } from './flow-control.ts';
import { measure } from './measure.ts';

export interface PipelineOptions {
  readonly authenticator: Authenticator;
  /** --anonymous-auth */
  readonly anonymous: boolean;
  /** Undefined: as much at once as anybody likes. */
  readonly flowControl: FlowControl | undefined;
  readonly authorizer: Authorizer;
  /** Discovery, OpenAPI, version. */
  readonly documents: DocumentHandler;
  readonly resources: ResourceHandler;
  /** meta/v1 Status, for clients that read protobuf. */
  readonly statusSchema: MessageSchema;
  readonly logger: Logger;
  readonly metrics: Metrics;
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
      answerErrors(options, request, async () => {
        const authenticated = await authenticate(options, request);
        // Errors become answers inside of the turn too, because they carry its headers.
        return takeTurn(options, authenticated, () =>
          answerErrors(options, request, async () => {
            const authorized = await authorize(options, authenticated);
            return dispatch(options, authorized);
          }),
        );
      }),
    );
}
