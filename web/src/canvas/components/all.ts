/** Every component that can be drawn: a file each, or a few that belong together. */
import "./chart";
import "./code";
import "./form";
import "./inputs";
import "./layout";
import "./lists";
import "./table";
import "./texts";
import "./trees";
