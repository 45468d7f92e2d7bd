import { z } from 'zod';

/** A message's object as a call's answer carries it: named, each field with its protobuf number (and, an enum, its name). */
export function numberFields<Shape extends z.core.$ZodLooseShape>(
  id: string,
  object: z.ZodObject<Shape>,
  numbers: Readonly<Record<keyof Shape, number | { readonly field: number; readonly id: string }>>,
): z.ZodObject<Shape> {
  const numbered = Object.fromEntries(
    Object.entries<z.ZodType>(object.shape).map(([name, schema]) => {
      const number = numbers[name];
      return [name, schema.meta(typeof number === 'object' ? number : { field: number })];
    }),
  );
  // Object.fromEntries forgets which key has which schema; each has the one it had.
  return z.object(numbered as unknown as Shape).meta({ id });
}
