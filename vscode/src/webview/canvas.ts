/** The canvas view: the page's canvas, with the extension in place of the daemon. */
import "./language";
import "../../../web/src/canvas/canvas";
import { feed } from "./surfaces";

feed.start();
