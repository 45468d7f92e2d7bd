import { z } from 'zod';

/** Any JSON value; google.protobuf.Value in the .proto. For payloads whose shape another catalogue holds. */
export const Json = z.unknown().meta({ json: true });
