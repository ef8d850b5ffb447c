// Must be imported first. The page's Content-Security-Policy forbids `eval`; zod would try it, and the browser report it.
import { config } from "zod";

config({ jitless: true });
