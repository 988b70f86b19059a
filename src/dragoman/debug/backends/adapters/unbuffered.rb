# Loaded before a debugged program: what it prints is seen when it prints it.
$stdout.sync = true

# Programs that it starts would wait for a debugger of their own, at its socket, for ever.
others = ENV["RUBYOPT"].to_s.gsub(%r{-r ?\S*/debug/\w+}, "").strip
others.empty? ? ENV.delete("RUBYOPT") : ENV["RUBYOPT"] = others
